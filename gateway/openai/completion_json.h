// CompletionJson: the JSON of answers, whole and as the events of a stream, for chats and for plain completions.
//
// Thread-safety: immutable; any thread may call. Ownership: the tokenizer outlives it.

#ifndef HEADSTART_GATEWAY_OPENAI_COMPLETION_JSON_H_
#define HEADSTART_GATEWAY_OPENAI_COMPLETION_JSON_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/generation.h"
#include "engine/text/tokenizer.h"
#include "gateway/openai/choice_answer.h"
#include "gateway/openai/openai_request.h"
#include "gateway/openai/usage_json.h"
#include "nlohmann/json_fwd.hpp"

namespace headstart {

// "stop", "length" or "tool_calls".
std::string_view FinishReasonName(FinishReason reason, bool has_calls);

class CompletionJson {
 public:
  struct Head {
    std::string id;
    int64_t created = 0;  // seconds since 1970
    std::string model;
    std::string fingerprint;
  };
  // With `usage_follows`, events say that theirs is null, as OpenAI's do.
  CompletionJson(const Head& head, OpenAiApi api, bool usage_follows, bool logprobs, const Tokenizer& tokenizer);

  // --- events of a stream, complete as server-sent events

  // What opens a choice of a chat.
  std::string RoleEvent(int choice) const;
  // Empty when nothing was added. `offset` is the TokensLength of those before.
  std::string DeltaEvents(int choice, const ChoiceAnswer::Added& added, size_t offset) const;
  // Bytes of text that tokens stand for: none, where a control token is left out of the text.
  size_t TokensLength(const std::vector<SampledToken>& tokens) const;
  std::string FinishEvent(int choice, std::string_view reason) const;
  std::string UsageEvent(const std::vector<ChoiceUsage>& usage) const;

  // --- whole

  struct Choice {
    ChoiceAnswer::Added answer;  // all of it
    std::string_view finish_reason;
  };
  std::string Whole(const std::vector<Choice>& choices, const std::vector<ChoiceUsage>& usage) const;

 private:
  bool is_chat() const { return api_ == OpenAiApi::kChatCompletions; }
  std::string Event(std::string_view choice) const;
  std::string ChoiceEvent(int choice, std::string_view content, std::string_view logprobs,
                          std::string_view finish_reason) const;
  std::string Logprobs(const std::vector<SampledToken>& tokens, size_t offset) const;

  const OpenAiApi api_;
  const bool logprobs_;
  const Tokenizer& tokenizer_;
  std::string event_begin_;  // up to the list of choices
  std::string event_end_;
  std::string whole_begin_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_OPENAI_COMPLETION_JSON_H_
