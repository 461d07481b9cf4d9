// What is found in an answer does not depend on how it is cut, and an answer without calls comes out whole. The first
// byte picks the format.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/openai/tool_call_parser.h"

namespace {

struct Parsed {
  std::string text;
  std::vector<headstart::ParsedToolCall> calls;
  bool operator==(const Parsed&) const = default;
};

Parsed Parse(headstart::ToolCallFormat format, std::string_view answer, size_t step) {
  headstart::ToolCallParser parser(format, {"f", "get_weather"});
  Parsed parsed;
  const auto collect = [&parsed](const std::vector<headstart::AnswerPiece>& pieces) {
    for (const auto& piece : pieces) {
      parsed.text += piece.text;
      if (piece.call) parsed.calls.push_back(*piece.call);
    }
  };
  for (size_t at = 0; at < answer.size(); at += step) collect(parser.Push(answer.substr(at, step)));
  collect(parser.Finish());
  return parsed;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto format = static_cast<headstart::ToolCallFormat>(data[0] % 4);
  const std::string_view answer(reinterpret_cast<const char*>(data + 1), size - 1);
  const Parsed whole = Parse(format, answer, answer.size() + 1);
  for (const size_t step : {1, 3, 7}) {
    if (!(Parse(format, answer, step) == whole)) __builtin_trap();
  }
  if (whole.calls.empty() && whole.text != answer) __builtin_trap();
  return 0;
}
