// ToolCallParser: the calls that a model writes into its answer, found again in the stream of its text.
//
//   hermes   <tool_call>{"name": ..., "arguments": {...}}</tool_call>        Hermes, Qwen2.5, Qwen3
//   llama3   {"name": ..., "parameters": {...}}; {...}                       Llama 3.1 and later; <|python_tag|> in
//   front
//            or not
//   mistral  [TOOL_CALLS] [{"name": ..., "arguments": {...}}, {...}]         the marker may be missing
//
// Without a marker a call must begin the answer, and name a function that was offered: what a user asked to be answered
// in JSON is text.
//
// Thread-safety: none; one answer's.
//
// Invariants:
// - Text outside of calls comes out at once. Held back is what may turn out to be a call, and white space at the start
//   and after calls.
// - Pieces are the same, but for how text is cut, however the answer was split into deltas.
// - What turns out to be no call comes out as text, whole. All bytes that are in no call come out, in order, but for
//   white space before the first call, between calls and after the last.

#ifndef HEADSTART_GATEWAY_OPENAI_TOOL_CALL_PARSER_H_
#define HEADSTART_GATEWAY_OPENAI_TOOL_CALL_PARSER_H_

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/openai/json_scan.h"

namespace headstart {

enum class ToolCallFormat { kNone, kHermes, kLlama3, kMistral };

struct ParsedToolCall {
  std::string name;
  std::string arguments_json;  // an object
  friend bool operator==(const ParsedToolCall&, const ParsedToolCall&) = default;
};

// Text, or a call.
struct AnswerPiece {
  std::string text;
  std::optional<ParsedToolCall> call = std::nullopt;
};

class ToolCallParser {
 public:
  ToolCallParser(ToolCallFormat format, std::set<std::string, std::less<>> offered);

  std::vector<AnswerPiece> Push(std::string_view delta);

  // The answer's end: what was held back.
  std::vector<AnswerPiece> Finish();

 private:
  struct Grammar {
    std::string_view begin;  // the marker before a call. Its first character comes nowhere else in it
    std::string_view end;    // and after it; empty: none
    char unmarked = '\0';    // what a call without a marker begins with; '\0': there are none
    bool repeats = false;    // after a call, another may follow without a marker
  };
  enum class State {
    kSpace,       // white space alone, since the start or the last call
    kText,        // an answer for people
    kBeforeCall,  // the marker has come, and white space
    kInCall,      // JSON
  };
  static Grammar GrammarOf(ToolCallFormat format);

  void Step(char next);
  void StepOutside(char next);
  void StepInCall(char next);
  bool ContinuesMarker(char next) const;
  void EndMarker();
  void ReleaseMarker();
  void Plain(char next);
  bool IsSpace(char c) const;
  void EndCall();
  void GiveUpCall();
  void AddText(std::string_view text);
  std::optional<std::vector<ParsedToolCall>> ParseCalls() const;

  const Grammar grammar_;
  const std::set<std::string, std::less<>> offered_;

  State state_ = State::kSpace;
  bool after_call_ = false;
  bool marked_ = false;  // the call that is under way has a marker
  std::string marker_;   // what may be the beginning of one
  std::string held_;     // in kSpace, kBeforeCall and kInCall: all since text or a call last came out, but for marker_
  std::string json_;     // in kInCall: the end of held_
  JsonExtent extent_;
  std::vector<AnswerPiece> pieces_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_OPENAI_TOOL_CALL_PARSER_H_
