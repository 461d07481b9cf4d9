#include "engine/scheduler/stop_matcher.h"

#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace headstart {
namespace {

TEST(StopMatcherTest, LetsTextThroughWithoutStops) {
  StopMatcher matcher({});
  EXPECT_EQ(matcher.Push("any"), "any");
  EXPECT_EQ(matcher.Finish(), "");
}

TEST(StopMatcherTest, FindsAStopInsideOnePiece) {
  StopMatcher matcher({"END"});
  EXPECT_EQ(matcher.Push("before END after"), "before ");
  EXPECT_TRUE(matcher.stopped());
  EXPECT_EQ(matcher.Push("more"), "");
  EXPECT_EQ(matcher.Finish(), "");
}

TEST(StopMatcherTest, FindsAStopAcrossPieces) {
  StopMatcher matcher({"\n\nUser:"});
  EXPECT_EQ(matcher.Push("yes\n"), "yes");
  EXPECT_EQ(matcher.Push("\nUs"), "");
  EXPECT_EQ(matcher.Push("er: no"), "");
  EXPECT_TRUE(matcher.stopped());
}

TEST(StopMatcherTest, ReleasesWhatTurnsOutNotToBeAStop) {
  StopMatcher matcher({"abc"});
  EXPECT_EQ(matcher.Push("xab"), "x");
  EXPECT_EQ(matcher.Push("d"), "abd");
  EXPECT_FALSE(matcher.stopped());
}

TEST(StopMatcherTest, KeepsTheBeginningThatOverlapsAFailedOne) {
  StopMatcher matcher({"aab"});
  EXPECT_EQ(matcher.Push("aa"), "");
  EXPECT_EQ(matcher.Push("a"), "a");
  EXPECT_EQ(matcher.Push("b"), "");
  EXPECT_TRUE(matcher.stopped());
}

TEST(StopMatcherTest, GivesTheHeldTextWhenTheAnswerEnds) {
  StopMatcher matcher({"stop"});
  EXPECT_EQ(matcher.Push("a st"), "a ");
  EXPECT_EQ(matcher.Finish(), "st");
}

TEST(StopMatcherTest, TheFirstCompleteStopWins) {
  StopMatcher matcher({"bcdef", "cd"});
  EXPECT_EQ(matcher.Push("abcdef"), "ab");
  EXPECT_TRUE(matcher.stopped());
}

TEST(StopMatcherTest, OfTwoCompleteAtOnceTheLongerWins) {
  StopMatcher matcher({"c", "abc"});
  EXPECT_EQ(matcher.Push("xabc"), "x");
}

// The plain definition: the stop string whose last byte comes first, the longest of those.
std::string CutPlainly(const std::string& text, const std::vector<std::string>& stops) {
  for (size_t end = 1; end <= text.size(); ++end) {
    size_t longest = 0;
    for (const std::string& stop : stops) {
      if (text.substr(0, end).ends_with(stop)) longest = std::max(longest, stop.size());
    }
    if (longest > 0) return text.substr(0, end - longest);
  }
  return text;
}

TEST(StopMatcherTest, EveryCutIntoPiecesGivesTheSameText) {
  std::mt19937 random(7);
  const auto word = [&](int longest) {
    std::string text(1 + random() % longest, 'a');
    for (char& c : text) c = static_cast<char>('a' + random() % 2);
    return text;
  };
  for (int round = 0; round < 5000; ++round) {
    const std::vector<std::string> stops = {word(8), word(8), "b" + word(6)};
    const std::string text = word(40);
    StopMatcher matcher(stops);
    std::string got;
    for (size_t at = 0; at < text.size();) {
      const size_t size = 1 + random() % 4;
      got += matcher.Push(text.substr(at, size));
      // Nothing let through may later turn out to be part of a stop string.
      ASSERT_TRUE(CutPlainly(text, stops).starts_with(got)) << text;
      at += size;
    }
    ASSERT_EQ(got + matcher.Finish(), CutPlainly(text, stops)) << text;
  }
}

}  // namespace
}  // namespace headstart
