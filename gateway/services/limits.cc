#include "gateway/services/limits.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "fmt/format.h"
#include "gateway/errors/error_details.h"
#include "gateway/services/cache_control.h"

namespace headstart {
namespace {

absl::Status CheckCount(std::string_view field, int64_t count, int64_t limit, std::string_view unit) {
  if (count <= limit) return absl::OkStatus();
  return OverLimit(field, fmt::format("has {} {}; this server takes at most {}", count, unit, limit));
}

template <typename... Checks>
absl::Status FirstError(const Checks&... checks) {
  absl::Status result;
  (result.Update(checks), ...);
  return result;
}

int64_t TextBytes(const v1::Message& message) {
  int64_t bytes =
      message.role().size() + message.content().size() + message.name().size() + message.tool_call_id().size();
  for (const auto& call : message.tool_calls()) {
    bytes += call.id().size() + call.name().size() + call.arguments_json().size();
  }
  return bytes;
}

int64_t TextBytes(const v1::ChatInput& chat) {
  int64_t bytes = 0;
  for (const auto& message : chat.messages()) bytes += TextBytes(message);
  for (const auto& tool : chat.tools()) {
    bytes += tool.name().size() + tool.description().size() + tool.parameters_json().size();
  }
  for (const auto& [name, value] : chat.template_variables()) bytes += name.size() + value.ByteSizeLong();
  return bytes;
}

absl::Status CheckChat(const v1::ChatInput& chat, const RequestLimits& limits) {
  if (chat.messages().empty()) return InvalidField("input.chat.messages", "is empty; at least one message is needed");
  for (int i = 0; i < chat.messages_size(); ++i) {
    if (!chat.messages(i).role().empty()) continue;
    return InvalidField(fmt::format("input.chat.messages[{}].role", i), "is empty; say who speaks, such as \"user\"");
  }
  return FirstError(CheckCount("input.chat.messages", chat.messages_size(), limits.max_messages, "messages"),
                    CheckCount("input.chat.tools", chat.tools_size(), limits.max_tools, "tools"),
                    CheckCount("input.chat.template_variables", static_cast<int64_t>(chat.template_variables().size()),
                               limits.max_template_variables, "variables"),
                    CheckCount("input.chat", TextBytes(chat), limits.max_prompt_bytes, "bytes of text"));
}

absl::Status CheckText(const v1::TextInput& text, const RequestLimits& limits) {
  if (text.text().empty()) return InvalidField("input.text.text", "is empty; at least one token is needed");
  return CheckCount("input.text.text", static_cast<int64_t>(text.text().size()), limits.max_prompt_bytes, "bytes");
}

absl::Status CheckTokens(const v1::TokensInput& tokens, const RequestLimits& limits) {
  if (tokens.ids().empty()) return InvalidField("input.tokens.ids", "is empty; at least one token is needed");
  return CheckCount("input.tokens.ids", tokens.ids_size(), limits.max_prompt_token_ids, "ids");
}

absl::Status CheckStops(const v1::GenerateRequest& request, const RequestLimits& limits) {
  for (int i = 0; i < request.stop_size(); ++i) {
    const std::string field = fmt::format("stop[{}]", i);
    if (request.stop(i).empty()) return InvalidField(field, "is empty; it would end every answer at once");
    const auto bytes = static_cast<int64_t>(request.stop(i).size());
    if (auto status = CheckCount(field, bytes, limits.max_stop_string_bytes, "bytes"); !status.ok()) return status;
  }
  return FirstError(CheckCount("stop", request.stop_size(), limits.max_stop_strings, "strings"),
                    CheckCount("stop_token_ids", request.stop_token_ids_size(), limits.max_stop_token_ids, "ids"));
}

// What callers call a label is named when it cannot upset whoever reads the error.
std::string LabelField(const std::string& key, const RequestLimits& limits) {
  const bool plain = std::ranges::all_of(key, [](char c) { return absl::ascii_isalnum(c) || c == '_' || c == '-'; });
  const bool is_short = static_cast<int64_t>(key.size()) <= limits.max_label_bytes;
  return plain && is_short ? fmt::format("labels.{}", key) : "labels";
}

absl::Status CheckLabels(const v1::GenerateRequest& request, const RequestLimits& limits) {
  for (const auto& [key, value] : request.labels()) {
    if (key.empty()) return InvalidField("labels", "has an empty key; every label needs a name");
    const auto longest = static_cast<int64_t>(std::max(key.size(), value.size()));
    auto status = CheckCount(LabelField(key, limits), longest, limits.max_label_bytes, "bytes in a key or value");
    if (!status.ok()) return status;
  }
  return CheckCount("labels", static_cast<int64_t>(request.labels().size()), limits.max_labels, "labels");
}

absl::Status CheckAnswer(const v1::GenerateRequest& request) {
  if (request.has_max_tokens() && request.max_tokens() < 1) {
    return InvalidField("max_tokens", fmt::format("is {}; it is at least 1, or unset", request.max_tokens()));
  }
  if (request.top_logprobs() < 0 || request.top_logprobs() > kMaxTopLogprobs) {
    return InvalidField("top_logprobs", fmt::format("is {}; it is 0 to {}", request.top_logprobs(), kMaxTopLogprobs));
  }
  if (request.top_logprobs() > 0 && !request.logprobs()) {
    return InvalidField("top_logprobs", "is set, but logprobs is not; set logprobs to true");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckInput(const v1::Input& input, const RequestLimits& limits) {
  switch (input.kind_case()) {
    case v1::Input::kText:
      return CheckText(input.text(), limits);
    case v1::Input::kChat:
      return CheckChat(input.chat(), limits);
    case v1::Input::kTokens:
      return CheckTokens(input.tokens(), limits);
    case v1::Input::KIND_NOT_SET:
      break;
  }
  return InvalidField("input", "is not set; give one of text, chat or tokens");
}

// Request ids are written to logs: printable ASCII only, so that none can forge a line.
absl::Status CheckRequestId(const std::string& id) {
  if (id.size() > kMaxRequestIdBytes) {
    return OverLimit("request_id", fmt::format("has {} bytes; at most {} are taken", id.size(), kMaxRequestIdBytes));
  }
  const bool printable = std::ranges::all_of(id, [](char c) { return c > ' ' && c <= '~'; });
  if (!printable) return InvalidField("request_id", "has a character other than printable ASCII without spaces");
  return absl::OkStatus();
}

absl::Status CheckTokenIds(std::string_view field, const google::protobuf::RepeatedField<int32_t>& ids,
                           int vocab_size) {
  const auto bad = std::ranges::find_if(ids, [vocab_size](int32_t id) { return id < 0 || id >= vocab_size; });
  if (bad == ids.end()) return absl::OkStatus();
  return InvalidField(fmt::format("{}[{}]", field, bad - ids.begin()),
                      fmt::format("is {}; the model's ids are 0 to {}", *bad, vocab_size - 1));
}

absl::Status CheckRequest(const v1::GenerateRequest& request, const RequestLimits& limits) {
  return FirstError(CheckInput(request.input(), limits), CheckAnswer(request), CheckStops(request, limits),
                    CheckLabels(request, limits), CheckRequestId(request.request_id()),
                    CheckCacheControl(request.cache()));
}

}  // namespace headstart
