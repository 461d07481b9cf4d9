// Calls found in answers, however the answers are cut into deltas.

#include "gateway/openai/tool_call_parser.h"

#include <random>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace headstart::testing {

void PrintTo(const ParsedToolCall& call, std::ostream* out) { *out << call.name << call.arguments_json; }

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Parsed {
  std::string text;
  std::vector<ParsedToolCall> calls;
  std::string order;  // t for text, c for a call
  bool operator==(const Parsed&) const = default;
};

void Collect(const std::vector<AnswerPiece>& pieces, Parsed& parsed) {
  for (const AnswerPiece& piece : pieces) {
    parsed.text += piece.text;
    if (piece.call) parsed.calls.push_back(*piece.call);
    const char kind = piece.call ? 'c' : 't';
    if (kind == 'c' || !parsed.order.ends_with('t')) parsed.order += kind;
  }
}

const std::set<std::string, std::less<>>& Offered() {
  static const std::set<std::string, std::less<>> kNames = {"f", "get_weather"};
  return kNames;
}

// `cuts` are where deltas end.
Parsed ParseCut(ToolCallFormat format, std::string_view answer, const std::vector<size_t>& cuts) {
  ToolCallParser parser(format, Offered());
  Parsed parsed;
  size_t at = 0;
  for (const size_t cut : cuts) {
    Collect(parser.Push(answer.substr(at, cut - at)), parsed);
    at = cut;
  }
  Collect(parser.Push(answer.substr(at)), parsed);
  Collect(parser.Finish(), parsed);
  return parsed;
}

Parsed Parse(ToolCallFormat format, std::string_view answer) { return ParseCut(format, answer, {}); }

constexpr auto kHermes = ToolCallFormat::kHermes;
constexpr auto kLlama3 = ToolCallFormat::kLlama3;
constexpr auto kMistral = ToolCallFormat::kMistral;

TEST(ToolCallParserTest, HermesCalls) {
  const Parsed parsed =
      Parse(kHermes,
            "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}\n</tool_call>\n"
            "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>");
  EXPECT_THAT(parsed.calls,
              ElementsAre(ParsedToolCall{"get_weather", R"({"city":"Oslo"})"}, ParsedToolCall{"f", "{}"}));
  EXPECT_EQ(parsed.text, "");
}

TEST(ToolCallParserTest, TextAroundHermesCallsStays) {
  const Parsed parsed = Parse(
      kHermes, "<think>Hm.</think>\n\nLet me look.<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>\nDone.");
  EXPECT_EQ(parsed.text, "<think>Hm.</think>\n\nLet me look.\nDone.");
  EXPECT_EQ(parsed.order, "tct");
}

TEST(ToolCallParserTest, AMarkerInsideAStringIsPartOfIt) {
  const Parsed parsed =
      Parse(kHermes, R"(<tool_call>{"name":"f","arguments":{"x":"</tool_call> } \" ] <tool_call>"}}</tool_call>)");
  EXPECT_THAT(parsed.calls, ElementsAre(ParsedToolCall{"f", R"({"x":"</tool_call> } \" ] <tool_call>"})"}));
  EXPECT_EQ(parsed.text, "");
}

TEST(ToolCallParserTest, AHermesCallWithoutEndMarkerIsACall) {
  EXPECT_THAT(Parse(kHermes, R"(<tool_call>{"name":"f","arguments":{}})").calls,
              ElementsAre(ParsedToolCall{"f", "{}"}));
}

TEST(ToolCallParserTest, MalformedCallsComeBackWhole) {
  for (const std::string answer : {
           "<tool_call>not json</tool_call>",
           "<tool_call>{\"name\": \"f\"",
           "<tool_call>{\"name\": 7, \"arguments\": {}}</tool_call> and more",
           "<tool_call>{\"name\": \"f\", \"arguments\": [1]}</tool_call>",
           "<tool_call>{\"name\": \"f\", \"arguments\": \"not json\"}</tool_call>",
           "<tool_call>{\"name\": \"f\", arguments: {}}</tool_call>",
           "<tool_call>{]</tool_call>",
           "<tool_call>[]</tool_call>",
           "<tool_call>",
           "  <tool_ca",
           "<tool_call>   ",
           "a < b <tool_calls>",
       }) {
    const Parsed parsed = Parse(kHermes, answer);
    EXPECT_EQ(parsed.text, answer);
    EXPECT_THAT(parsed.calls, IsEmpty());
  }
}

TEST(ToolCallParserTest, ACallAfterABrokenMarkerIsFound) {
  const Parsed parsed = Parse(kHermes, "<tool_call><tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>");
  EXPECT_EQ(parsed.text, "<tool_call>");
  EXPECT_THAT(parsed.calls, ElementsAre(ParsedToolCall{"f", "{}"}));
}

TEST(ToolCallParserTest, ArgumentsWrittenAsTextAreTheObjectInIt) {
  EXPECT_THAT(Parse(kHermes, R"(<tool_call>{"name":"f","arguments":"{\"a\": 1.0}"}</tool_call>)").calls,
              ElementsAre(ParsedToolCall{"f", R"({"a": 1.0})"}));
}

TEST(ToolCallParserTest, Llama3Calls) {
  const ParsedToolCall weather{"get_weather", R"({"city":"Oslo"})"};
  EXPECT_THAT(Parse(kLlama3, R"({"name": "get_weather", "parameters": {"city": "Oslo"}})").calls, ElementsAre(weather));
  EXPECT_THAT(Parse(kLlama3, R"(<|python_tag|>{"name": "get_weather", "parameters": {"city": "Oslo"}})").calls,
              ElementsAre(weather));
  const Parsed two = Parse(kLlama3, R"( {"name": "f", "parameters": {}}; {"name": "f", "parameters": {"a":[{}]}} )");
  EXPECT_THAT(two.calls, ElementsAre(ParsedToolCall{"f", "{}"}, ParsedToolCall{"f", R"({"a":[{}]})"}));
  EXPECT_EQ(two.text, "");
}

TEST(ToolCallParserTest, JsonThatIsAnAnswerStaysText) {
  for (const std::string answer : {
           R"({"name": "Alice", "parameters": {"age": 7}})",  // no function of that name was offered
           R"({"answer": 42})",
           R"(Here: {"name": "f", "parameters": {}})",
           R"({"name": "f", "parameters": {}}x)",
       }) {
    if (answer.ends_with('x')) {
      EXPECT_EQ(Parse(kLlama3, answer).text, "x");
      continue;
    }
    EXPECT_EQ(Parse(kLlama3, answer).text, answer);
    EXPECT_THAT(Parse(kLlama3, answer).calls, IsEmpty());
  }
  EXPECT_EQ(Parse(kMistral, "[1] is a footnote").text, "[1] is a footnote");
}

TEST(ToolCallParserTest, MistralCallsWithAndWithoutMarker) {
  const std::string list =
      R"([{"name": "f", "arguments": {}, "id": "abcdefghi"}, {"name": "get_weather", "arguments": {}}])";
  for (const std::string& answer : {"[TOOL_CALLS] " + list, "[TOOL_CALLS]" + list, " " + list}) {
    EXPECT_THAT(Parse(kMistral, answer).calls,
                ElementsAre(ParsedToolCall{"f", "{}"}, ParsedToolCall{"get_weather", "{}"}));
    EXPECT_EQ(Parse(kMistral, answer).text, "");
  }
}

TEST(ToolCallParserTest, TextComesOutAtOnce) {
  ToolCallParser parser(kHermes, Offered());
  EXPECT_EQ(parser.Push("Hello").at(0).text, "Hello");
  EXPECT_EQ(parser.Push(" a < b").at(0).text, " a < b");
  EXPECT_THAT(parser.Push("<tool"), IsEmpty());
  EXPECT_EQ(parser.Push("box").at(0).text, "<toolbox");
}

TEST(ToolCallParserTest, DeepNestingIsNoCall) {
  std::string deep = "<tool_call>";
  for (int i = 0; i < 100'000; ++i) deep += "{\"a\":";
  EXPECT_EQ(Parse(kHermes, deep).text, deep);
}

// Pieces of calls, markers and noise, in any order: what comes out does not depend on the deltas, and without a call
// nothing is lost.
class Splits : public ::testing::TestWithParam<ToolCallFormat> {};

std::string RandomAnswer(std::mt19937& random) {
  static const std::vector<std::string> kFragments = {"<tool_call>",
                                                      "</tool_call>",
                                                      "<|python_tag|>",
                                                      "[TOOL_CALLS]",
                                                      " ",
                                                      "\n",
                                                      ";",
                                                      "{",
                                                      "}",
                                                      "[",
                                                      "]",
                                                      "<",
                                                      "text",
                                                      "\"",
                                                      "\\",
                                                      "é",
                                                      R"({"name": "f", "arguments": {"a": "}"}})",
                                                      R"({"name": "f", "parameters": {}})",
                                                      R"([{"name": "get_weather", "arguments": {"b": [1]}}])",
                                                      R"({"name": "unknown", "arguments": {}})",
                                                      "<tool_call"};
  std::string answer;
  for (int n = static_cast<int>(random() % 8); n >= 0; --n) answer += kFragments[random() % kFragments.size()];
  return answer;
}

TEST_P(Splits, DoNotMatter) {
  std::mt19937 random(11);
  for (int round = 0; round < 3000; ++round) {
    const std::string answer = RandomAnswer(random);
    const Parsed whole = Parse(GetParam(), answer);
    std::vector<size_t> every(answer.size());
    for (size_t i = 0; i < every.size(); ++i) every[i] = i + 1;
    ASSERT_EQ(ParseCut(GetParam(), answer, every), whole) << answer;
    for (int cuts = 0; cuts < 3; ++cuts) {
      const size_t first = random() % (answer.size() + 1);
      const size_t second = first + random() % (answer.size() + 1 - first);
      ASSERT_EQ(ParseCut(GetParam(), answer, {first, second}), whole) << answer;
    }
    if (!whole.calls.empty()) continue;
    ASSERT_EQ(whole.text, answer);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, Splits, ::testing::Values(kHermes, kLlama3, kMistral, ToolCallFormat::kNone));

}  // namespace
}  // namespace headstart::testing
