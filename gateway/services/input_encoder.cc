#include "gateway/services/input_encoder.h"

#include <string>
#include <utility>

#include "gateway/errors/error_details.h"
#include "gateway/services/chat_json.h"
#include "gateway/services/limits.h"
#include "gateway/services/tool_support.h"
#include "nlohmann/json.hpp"

namespace headstart {
namespace {

absl::Status TemplateError(const absl::Status& status) {
  if (absl::IsFailedPrecondition(status)) return WithReason(status, "CHAT_TEMPLATE_REFUSED");
  if (!absl::IsResourceExhausted(status)) return WithReason(status, "CHAT_TEMPLATE_FAILED");
  return WithReason(WithField(absl::InvalidArgumentError(status.message()), "input.chat"), "CHAT_TEMPLATE_LIMIT");
}

}  // namespace

InputEncoder::InputEncoder(const Engine& engine, std::function<absl::Time()> now)
    : engine_(engine), now_(std::move(now)), takes_tools_(TakesTools(engine.chat_template())) {}

absl::StatusOr<std::vector<TokenId>> InputEncoder::Encode(const v1::Input& input) const {
  auto tokens = input.has_chat()     ? EncodeChat(input.chat())
                : input.has_tokens() ? TakeTokens(input.tokens())
                                     : EncodeText(input.text());
  if (tokens.ok() && tokens->empty()) return InvalidField("input", "has no tokens; at least one is needed");
  return tokens;
}

std::vector<TokenId> InputEncoder::EncodeText(const v1::TextInput& text) const {
  const bool add_special = !text.has_add_special_tokens() || text.add_special_tokens();
  return engine_.tokenizer().Encode(
      text.text(), {.add_special_tokens = add_special, .parse_special = text.parse_special(), .literal = {}});
}

absl::StatusOr<std::vector<TokenId>> InputEncoder::EncodeChat(const v1::ChatInput& chat) const {
  if (!takes_tools_ && !chat.tools().empty()) {
    return InvalidField("input.chat.tools", "are given, but this model's chat template takes no tools; leave them out");
  }
  auto messages = MessagesToJson(chat);
  if (!messages.ok()) return messages.status();
  auto tools = ToolsToJson(chat);
  if (!tools.ok()) return tools.status();
  const nlohmann::ordered_json variables = VariablesToJson(chat);
  auto rendered = engine_.chat_template().Render({
      .messages = &*messages,
      .tools = tools->is_null() ? nullptr : &*tools,
      .add_generation_prompt = !chat.has_add_generation_prompt() || chat.add_generation_prompt(),
      .variables = &variables,
      .now = now_(),
  });
  if (!rendered.ok()) return TemplateError(rendered.status());
  // A model's own template writes BOS itself where the model wants one; the ChatML that stands in for it does not.
  return engine_.tokenizer().Encode(rendered->text, {.add_special_tokens = !engine_.has_own_chat_template(),
                                                     .parse_special = true,
                                                     .literal = rendered->from_caller});
}

absl::StatusOr<std::vector<TokenId>> InputEncoder::TakeTokens(const v1::TokensInput& tokens) const {
  auto status = CheckTokenIds("input.tokens.ids", tokens.ids(), engine_.config().vocab_size);
  if (!status.ok()) return status;
  std::vector<TokenId> result;
  result.reserve(tokens.ids_size());
  for (const int32_t id : tokens.ids()) result.push_back(TokenId{id});
  return result;
}

}  // namespace headstart
