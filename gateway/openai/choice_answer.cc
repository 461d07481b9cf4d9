#include "gateway/openai/choice_answer.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "gateway/openai/tool_call_format.h"

namespace headstart {
namespace {

// Some tokenizers have these as control tokens, which are no part of an answer's text.
constexpr auto kMarkers =
    std::to_array<std::string_view>({"<tool_call>", "</tool_call>", "<|python_tag|>", "[TOOL_CALLS]"});

}  // namespace

ChoiceAnswer::ChoiceAnswer(const OpenAiRequest& request, ToolCallFormat format, const Tokenizer& tokenizer,
                           RandomSource random)
    : format_(format),
      logprobs_(request.generate.logprobs()),
      parallel_calls_(request.parallel_tool_calls),
      tokenizer_(tokenizer),
      random_(std::move(random)) {
  if (!request.tools.empty() && format != ToolCallFormat::kNone) parser_.emplace(format, request.tools);
}

// The text with the control tokens that mark calls. Deltas carry a token each but for the last ones of an answer: a
// marker stands before the text of its delta, unless it is the last of several tokens.
std::string ChoiceAnswer::WithMarkers(const GenerationDelta& delta) const {
  std::string before;
  std::string after;
  for (size_t i = 0; i < delta.tokens.size(); ++i) {
    const TokenId token = delta.tokens[i].token;
    if (!tokenizer_.IsSpecial(token)) continue;
    const std::string marker = tokenizer_.TokenBytes(token, /*with_special=*/true);
    if (std::ranges::find(kMarkers, marker) == kMarkers.end()) continue;
    const bool is_last_of_several = i > 0 && i + 1 == delta.tokens.size();
    (is_last_of_several ? after : before) += marker;
  }
  return before + delta.text + after;
}

ChoiceAnswer::Added ChoiceAnswer::Add(GenerationDelta delta) {
  Added added;
  if (parser_) {
    added = Sort(parser_->Push(WithMarkers(delta)));
  } else {
    added.text = std::move(delta.text);
  }
  if (logprobs_) added.tokens = std::move(delta.tokens);
  return added;
}

ChoiceAnswer::Added ChoiceAnswer::Finish() { return parser_ ? Sort(parser_->Finish()) : Added{}; }

// Text that stands after a call is put in front of it: an answer has one text, and its calls.
ChoiceAnswer::Added ChoiceAnswer::Sort(std::vector<AnswerPiece> pieces) {
  Added added;
  for (AnswerPiece& piece : pieces) {
    added.text += piece.text;
    if (!piece.call || (calls_ > 0 && !parallel_calls_)) continue;
    added.calls.push_back({calls_++, ToolCallId(format_, random_()), *std::move(piece.call)});
  }
  return added;
}

}  // namespace headstart
