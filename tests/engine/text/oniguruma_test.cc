#include "engine/text/internal/oniguruma.h"

#include <optional>
#include <string>
#include <vector>

#include "engine/text/internal/regex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status.h"

namespace headstart {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::StatusIs;

std::vector<std::string> Matches(const std::string& pattern, const std::string& text) {
  const auto regex = Regex::Compile({pattern, true});
  EXPECT_OK(regex);
  std::vector<std::string> matches;
  Regex::Matcher matcher(*regex, text);
  while (const std::optional<TextRange> match = matcher.Next()) {
    matches.push_back(text.substr(match->begin, match->end - match->begin));
  }
  return matches;
}

TEST(Oniguruma, WhiteSpaceIsUnicodes) {
  EXPECT_THAT(Matches(R"(\s)", "\u180e\u00a0\u0085x"), ElementsAre("\u00a0", "\u0085"));
  EXPECT_THAT(Matches(R"(\S)", "\u180e\u00a0x"), ElementsAre("\u180e", "x"));
  EXPECT_THAT(Matches(R"([\S]+)", "a\u180eb c"), ElementsAre("a\u180eb", "c"));
  EXPECT_THAT(Matches(R"([^\s]+)", "a\u180eb\u2028"), ElementsAre("a\u180eb"));
  EXPECT_THAT(Matches(R"([\s\S])", "\u180e "), ElementsAre("\u180e", " "));
}

TEST(Oniguruma, LettersAndDigitsOfUnicode16) {
  EXPECT_THAT(Matches(R"(\p{L}+)", "\U00031350\u1C89 \U00016D40"), ElementsAre("\U00031350\u1C89", "\U00016D40"));
  EXPECT_THAT(Matches(R"([^\p{L}\p{N}]+)", "\U00031350-\U00011F50"), ElementsAre("-"));
  EXPECT_THAT(Matches(R"(\d)", "\U00011F501"), ElementsAre("\U00011F50", "1"));
}

TEST(Oniguruma, AHyphenBesideAClassIsItself) {
  EXPECT_THAT(Matches(R"([\s-a]+)", "b -a~"), ElementsAre(" -a"));
  EXPECT_THAT(Matches(R"([a-\s]+)", "b -a~"), ElementsAre(" -a"));
}

TEST(Oniguruma, LinesAndWords) {
  EXPECT_THAT(Matches("^.", "a\nb\r\nc"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Matches(R"(\w+)", "a\u0301_1 \u2460"), ElementsAre("a\u0301_1"));
  EXPECT_THAT(Matches(R"(\h+)", "xBEEFg"), ElementsAre("BEEF"));
  EXPECT_THAT(Matches("[\\u0041-\\u0043]", "xBD"), ElementsAre("B"));
}

TEST(Oniguruma, EmptyMatchesMoveOn) { EXPECT_THAT(Matches("x*", "ax"), ElementsAre("", "x")); }

TEST(Oniguruma, RefusesWhatPcreWouldReadInAnotherWay) {
  for (const char* pattern : {"[a&&b]", "[a[bc]]", "\\p{N}{1,3}+", "(?m:.)", "(*UTF)", "a\\Kb", "\\Qx\\E", "\\u12"}) {
    EXPECT_THAT(OnigurumaToPcre(pattern), StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("regular expression")))
        << pattern;
  }
}

TEST(Regex, RefusesWhatDoesNotCompile) {
  EXPECT_THAT(Regex::Compile({"(", true}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("does not compile")));
  EXPECT_THAT(Regex::Compile({"", false}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("empty")));
  EXPECT_THAT(Regex::Compile({"\xFF", true}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("UTF-8")));
}

// What would take 2^n steps ends at the limit, and counts as no match.
TEST(Regex, GivesUpAtItsLimit) { EXPECT_TRUE(Matches("(?:a+)+b", std::string(60, 'a') + "c").empty()); }

TEST(Regex, MatchesDeepRepetitionsBeyondTheMachineCodesStack) {
  EXPECT_EQ(Matches("(?:(a)|(b))*c", std::string(20000, 'a') + "c").size(), 1u);
}

}  // namespace
}  // namespace headstart
