// ChoiceAnswer: one choice of an answer as it grows: text, tool calls and log-probabilities, made of the engine's
// deltas.
//
// Thread-safety: none.
// Ownership: the tokenizer outlives it.

#ifndef HEADSTART_GATEWAY_OPENAI_CHOICE_ANSWER_H_
#define HEADSTART_GATEWAY_OPENAI_CHOICE_ANSWER_H_

#include <optional>
#include <string>
#include <vector>

#include "engine/generation.h"
#include "engine/text/tokenizer.h"
#include "gateway/openai/openai_request.h"
#include "gateway/openai/tool_call_parser.h"
#include "gateway/services/random_source.h"

namespace headstart {

struct NumberedToolCall {
  int index;
  std::string id;
  ParsedToolCall call;
};

class ChoiceAnswer {
 public:
  // What one delta added.
  struct Added {
    std::string text;
    std::vector<NumberedToolCall> calls;
    std::vector<SampledToken> tokens;  // when log-probabilities were asked for
  };

  ChoiceAnswer(const OpenAiRequest& request, ToolCallFormat format, const Tokenizer& tokenizer, RandomSource random);

  Added Add(GenerationDelta delta);
  Added Finish();

  bool has_calls() const { return calls_ > 0; }

 private:
  std::string WithMarkers(const GenerationDelta& delta) const;
  Added Sort(std::vector<AnswerPiece> pieces);

  const ToolCallFormat format_;
  const bool logprobs_;
  const bool parallel_calls_;
  const Tokenizer& tokenizer_;
  const RandomSource random_;
  std::optional<ToolCallParser> parser_;  // when tools were offered
  int calls_ = 0;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_OPENAI_CHOICE_ANSWER_H_
