#include "gateway/openai/completion_json.h"

#include <algorithm>

#include "fmt/format.h"
#include "gateway/openai/json_scan.h"
#include "nlohmann/json.hpp"

namespace headstart {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinity; this is what OpenAI writes for a probability of nothing.
constexpr float kLowestLogprob = -9999.0f;

std::string Dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json BytesJson(std::string_view text) {
  Json bytes = Json::array();
  for (const char c : text) bytes.push_back(static_cast<unsigned char>(c));
  return bytes;
}

std::string TextOf(const Tokenizer& tokenizer, TokenId token) {
  return tokenizer.TokenBytes(token, /*with_special=*/true);
}

size_t LengthOf(const Tokenizer& tokenizer, TokenId token) {
  return tokenizer.TokenBytes(token, /*with_special=*/false).size();
}

Json TokenJson(const Tokenizer& tokenizer, TokenId token, float logprob) {
  const std::string text = TextOf(tokenizer, token);
  return {{"token", text}, {"logprob", std::max(logprob, kLowestLogprob)}, {"bytes", BytesJson(text)}};
}

Json ChatLogprobs(const Tokenizer& tokenizer, const std::vector<SampledToken>& tokens) {
  Json content = Json::array();
  for (const SampledToken& token : tokens) {
    Json item = TokenJson(tokenizer, token.token, token.logprob);
    item["top_logprobs"] = Json::array();
    for (const TokenLogprob& top : token.top) {
      item["top_logprobs"].push_back(TokenJson(tokenizer, top.token, top.logprob));
    }
    content.push_back(std::move(item));
  }
  return {{"content", std::move(content)}, {"refusal", nullptr}};
}

// The older form: lists side by side, and where each token's text begins.
Json CompletionLogprobs(const Tokenizer& tokenizer, const std::vector<SampledToken>& tokens, size_t offset) {
  Json result = {{"tokens", Json::array()},
                 {"token_logprobs", Json::array()},
                 {"top_logprobs", Json::array()},
                 {"text_offset", Json::array()}};
  for (const SampledToken& token : tokens) {
    const std::string text = TextOf(tokenizer, token.token);
    result["tokens"].push_back(text);
    result["token_logprobs"].push_back(std::max(token.logprob, kLowestLogprob));
    result["text_offset"].push_back(offset);
    Json top = Json::object();
    for (const TokenLogprob& other : token.top) {
      top[TextOf(tokenizer, other.token)] = std::max(other.logprob, kLowestLogprob);
    }
    result["top_logprobs"].push_back(std::move(top));
    offset += LengthOf(tokenizer, token.token);
  }
  return result;
}

Json CallJson(const NumberedToolCall& call, bool with_index) {
  Json result = Json::object();
  if (with_index) result["index"] = call.index;
  result["id"] = call.id;
  result["type"] = "function";
  result["function"] = {{"name", call.call.name}, {"arguments", call.call.arguments_json}};
  return result;
}

Json MessageJson(const ChoiceAnswer::Added& answer) {
  const bool only_calls = answer.text.empty() && !answer.calls.empty();
  Json message = {
      {"role", "assistant"}, {"content", only_calls ? Json(nullptr) : Json(answer.text)}, {"refusal", nullptr}};
  for (const NumberedToolCall& call : answer.calls) message["tool_calls"].push_back(CallJson(call, false));
  return message;
}

}  // namespace

std::string_view FinishReasonName(FinishReason reason, bool has_calls) {
  if (reason == FinishReason::kLength) return "length";
  return has_calls ? "tool_calls" : "stop";
}

CompletionJson::CompletionJson(const Head& head, OpenAiApi api, bool usage_follows, bool logprobs,
                               const Tokenizer& tokenizer)
    : api_(api), logprobs_(logprobs), tokenizer_(tokenizer) {
  const auto begin = [&](std::string_view object) {
    return fmt::format(R"({{"id":{},"object":"{}","created":{},"model":{},"system_fingerprint":{},)",
                       JsonString(head.id), object, head.created, JsonString(head.model), JsonString(head.fingerprint));
  };
  event_begin_ = "data: " + begin(is_chat() ? "chat.completion.chunk" : "text_completion");
  event_end_ = usage_follows ? R"(,"usage":null})" : "}";
  event_end_ += "\n\n";
  whole_begin_ = begin(is_chat() ? "chat.completion" : "text_completion");
}

std::string CompletionJson::Event(std::string_view choice) const {
  return fmt::format(R"({}"choices":[{}]{})", event_begin_, choice, event_end_);
}

std::string CompletionJson::ChoiceEvent(int choice, std::string_view content, std::string_view logprobs,
                                        std::string_view finish_reason) const {
  return Event(
      fmt::format(R"({{"index":{},{},"logprobs":{},"finish_reason":{}}})", choice, content, logprobs, finish_reason));
}

std::string CompletionJson::RoleEvent(int choice) const {
  return ChoiceEvent(choice, R"("delta":{"role":"assistant","content":""})", "null", "null");
}

std::string CompletionJson::Logprobs(const std::vector<SampledToken>& tokens, size_t offset) const {
  if (!logprobs_ || tokens.empty()) return "null";
  return Dump(is_chat() ? ChatLogprobs(tokenizer_, tokens) : CompletionLogprobs(tokenizer_, tokens, offset));
}

size_t CompletionJson::TokensLength(const std::vector<SampledToken>& tokens) const {
  size_t length = 0;
  for (const SampledToken& token : tokens) length += LengthOf(tokenizer_, token.token);
  return length;
}

std::string CompletionJson::DeltaEvents(int choice, const ChoiceAnswer::Added& added, size_t offset) const {
  std::string events;
  if (!added.text.empty() || !added.tokens.empty()) {
    const std::string text = JsonString(added.text);
    const std::string content = is_chat() ? fmt::format(R"("delta":{{"content":{}}})", text) : "\"text\":" + text;
    events = ChoiceEvent(choice, content, Logprobs(added.tokens, offset), "null");
  }
  for (const NumberedToolCall& call : added.calls) {
    const Json delta = {{"tool_calls", {CallJson(call, true)}}};
    events += ChoiceEvent(choice, "\"delta\":" + Dump(delta), "null", "null");
  }
  return events;
}

std::string CompletionJson::FinishEvent(int choice, std::string_view reason) const {
  return ChoiceEvent(choice, is_chat() ? R"("delta":{})" : R"("text":"")", "null", fmt::format("\"{}\"", reason));
}

std::string CompletionJson::UsageEvent(const std::vector<ChoiceUsage>& usage) const {
  return fmt::format(R"({}"choices":[],"usage":{}}})", event_begin_, Dump(UsageJson(usage))) + "\n\n";
}

std::string CompletionJson::Whole(const std::vector<Choice>& choices, const std::vector<ChoiceUsage>& usage) const {
  std::string list;
  for (size_t i = 0; i < choices.size(); ++i) {
    const Choice& choice = choices[i];
    const std::string content =
        is_chat() ? "\"message\":" + Dump(MessageJson(choice.answer)) : "\"text\":" + JsonString(choice.answer.text);
    list += fmt::format(R"({}{{"index":{},{},"logprobs":{},"finish_reason":"{}"}})", i == 0 ? "" : ",", i, content,
                        Logprobs(choice.answer.tokens, 0), choice.finish_reason);
  }
  return fmt::format(R"({}"choices":[{}],"usage":{}}})", whole_begin_, list, Dump(UsageJson(usage))) + "\n";
}

}  // namespace headstart
