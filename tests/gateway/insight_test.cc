#include <map>
#include <random>

#include "gateway/insight/hottest_prefixes.h"
#include "gateway/insight/miss_explainer.h"
#include "gateway/insight/prompt_history.h"
#include "gateway/insight/prompt_trie.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "prefix_store/token_compare.h"

namespace headstart {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<TokenId> Tokens(int first, int count) {
  std::vector<TokenId> tokens;
  for (int i = 0; i < count; ++i) tokens.push_back(TokenId{first + i});
  return tokens;
}

std::vector<TokenId> operator+(std::vector<TokenId> a, const std::vector<TokenId>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::shared_ptr<const RememberedPrompt> Prompt(std::vector<TokenId> tokens, MissReason reason = MissReason::kDiverged,
                                               int64_t cached = 0) {
  RememberedPrompt prompt;
  prompt.prompt_tokens = static_cast<int64_t>(tokens.size());
  prompt.tokens = std::move(tokens);
  prompt.miss_reason = reason;
  prompt.cached_tokens = cached;
  return std::make_shared<const RememberedPrompt>(std::move(prompt));
}

// --- the trie, against comparing every pair

TEST(PromptTrieTest, AgreesWithComparingEveryPair) {
  std::mt19937 random(11);
  for (int world = 0; world < 200; ++world) {
    PromptTrie trie;
    std::vector<std::vector<TokenId>> earlier;
    earlier.reserve(40);
    for (int i = 0; i < 40; ++i) {
      std::vector<TokenId> prompt;
      const int length = static_cast<int>(random() % 12);
      for (int t = 0; t < length; ++t) prompt.push_back(TokenId{static_cast<int>(random() % 3)});
      size_t common = 0;
      for (const auto& other : earlier) common = std::max(common, CommonTokens(prompt, other));
      int64_t differing = 0;
      for (const auto& other : earlier) {
        if (CommonTokens(prompt, other) == common && other.size() > common && prompt.size() > common) ++differing;
      }
      earlier.push_back(prompt);
      const PromptTrie::Place place = trie.Insert(earlier.back());
      ASSERT_EQ(place.common_tokens, static_cast<int64_t>(common));
      ASSERT_EQ(place.earlier_prompts, differing);
      ASSERT_EQ(trie.end(place.node), place.common_tokens);
    }
    ASSERT_EQ(trie.prompts(PromptTrie::kRoot), 40);
  }
}

// --- explanations

TEST(MissExplainerTest, SaysWherePromptsPartAndWhatMovingWouldSave) {
  RememberedPrompts prompts;
  const auto instructions = Tokens(1000, 400);
  for (int day = 0; day < 10; ++day) {
    // "Today is <day>", the same instructions, and a question.
    prompts.push_back(Prompt(Tokens(1, 37) + Tokens(100 + day, 1) + instructions + Tokens(5000 + 10 * day, 10)));
  }
  const auto groups = ExplainMisses(prompts, 10);
  ASSERT_THAT(groups, SizeIs(2));  // the first one had nothing to differ from
  const MissGroup& group = groups.front();
  EXPECT_EQ(group.reason, MissReason::kDiverged);
  EXPECT_EQ(group.token, 37);
  EXPECT_EQ(group.requests, 9);
  EXPECT_EQ(group.earlier_requests, 9);
  EXPECT_EQ(group.computed_tokens, 9 * (1 + 400 + 10));
  EXPECT_EQ(group.saved_by_moving_tokens, 9 * 400);
  EXPECT_EQ(group.before, Tokens(14, 24));
  ASSERT_THAT(group.ways, SizeIs(5));
  EXPECT_EQ(group.ways.front().tokens, Tokens(100, 1) + Tokens(1000, 11));
  EXPECT_EQ(group.ways.front().prompts, 1);
}

TEST(MissExplainerTest, PlacesThatFollowCloselyAreOne) {
  RememberedPrompts prompts;
  for (int month = 0; month < 3; ++month) {
    for (int day = 0; day < 4; ++day) {
      prompts.push_back(Prompt(Tokens(1, 20) + Tokens(50 + month, 1) + Tokens(70 + day, 1) + Tokens(1000, 100)));
    }
  }
  const auto groups = ExplainMisses(prompts, 10);
  ASSERT_THAT(groups, SizeIs(2));
  EXPECT_EQ(groups[0].requests, 11);
  EXPECT_EQ(groups[0].token, 21) << "three of each month's days differ from its first, and two months from the first";
}

TEST(MissExplainerTest, OtherReasonsAreGroupedByThemselves) {
  RememberedPrompts prompts = {Prompt(Tokens(1, 10), MissReason::kNew), Prompt(Tokens(1, 10), MissReason::kNone, 9),
                               Prompt(Tokens(1, 10), MissReason::kEvicted, 2),
                               Prompt(Tokens(1, 10), MissReason::kCachingOff),
                               Prompt(Tokens(500, 30), MissReason::kNew)};
  const auto groups = ExplainMisses(prompts, 10);
  ASSERT_THAT(groups, SizeIs(3));
  EXPECT_EQ(groups[0].reason, MissReason::kNew);
  EXPECT_EQ(groups[0].requests, 2);
  EXPECT_EQ(groups[0].computed_tokens, 40);
  EXPECT_EQ(groups[1].reason, MissReason::kCachingOff);
  EXPECT_EQ(groups[2].reason, MissReason::kEvicted);
  EXPECT_EQ(groups[2].computed_tokens, 8);
  EXPECT_THAT(ExplainMisses(prompts, 1), SizeIs(1));
  EXPECT_THAT(ExplainMisses({}, 10), IsEmpty());
}

// What an evicted beginning cost, and what a changing part behind it costs in any case, are told apart.
TEST(MissExplainerTest, EvictionExplainsOnlyWhatIsShared) {
  const RememberedPrompts prompts = {Prompt(Tokens(1, 40) + Tokens(100, 60), MissReason::kNew),
                                     Prompt(Tokens(1, 40) + Tokens(300, 60), MissReason::kEvicted, 5)};
  const auto groups = ExplainMisses(prompts, 10);
  ASSERT_THAT(groups, SizeIs(3));
  EXPECT_EQ(groups[0].reason, MissReason::kNew);
  EXPECT_EQ(groups[1].reason, MissReason::kDiverged);
  EXPECT_EQ(groups[1].token, 40);
  EXPECT_EQ(groups[1].computed_tokens, 60);
  EXPECT_EQ(groups[2].reason, MissReason::kEvicted);
  EXPECT_EQ(groups[2].computed_tokens, 35);
}

TEST(MissExplainerTest, TokensSameAgain) {
  EXPECT_EQ(TokensSameAgain(Tokens(1, 1) + Tokens(100, 50), Tokens(2, 1) + Tokens(100, 50)), 50);
  EXPECT_EQ(TokensSameAgain(Tokens(1, 3) + Tokens(100, 50), Tokens(5, 1) + Tokens(100, 40)), 40);
  EXPECT_EQ(TokensSameAgain(Tokens(1, 1) + Tokens(100, kSameAgain - 1), Tokens(2, 1) + Tokens(100, kSameAgain - 1)), 0);
  EXPECT_EQ(TokensSameAgain(Tokens(1, kLookAhead + 1) + Tokens(1000, 50), Tokens(500, 1) + Tokens(1000, 50)), 0);
  EXPECT_EQ(TokensSameAgain({}, Tokens(1, 5)), 0);
}

TEST(HottestPrefixesTest, RanksByWhatRepetitionIsWorth) {
  RememberedPrompts prompts;
  for (int i = 0; i < 5; ++i) prompts.push_back(Prompt(Tokens(1, 100) + Tokens(1000 + 10 * i, 3)));
  for (int i = 0; i < 3; ++i) prompts.push_back(Prompt(Tokens(500, 60) + Tokens(2000 + 10 * i, 3)));
  prompts.push_back(Prompt(Tokens(3000, 900)));
  const auto hottest = HottestPrefixes(prompts, 10);
  ASSERT_THAT(hottest, SizeIs(2));
  EXPECT_EQ(hottest[0].requests, 5);
  EXPECT_EQ(hottest[0].tokens, 100);
  EXPECT_EQ(hottest[0].beginning, Tokens(1, 48));
  EXPECT_EQ(hottest[1].requests, 3);
  EXPECT_EQ(hottest[1].tokens, 60);
  EXPECT_THAT(HottestPrefixes(prompts, 1), SizeIs(1));
}

// --- what is remembered

RememberedPrompt Remembered(int tokens) {
  RememberedPrompt prompt;
  prompt.tokens = Tokens(0, tokens);
  prompt.tokens.shrink_to_fit();
  return prompt;
}

TEST(PromptHistoryTest, ForgetsTheOldestOfWhoTakesMost) {
  PromptHistory history({.max_bytes = 4 * (1000 * 4 + static_cast<int64_t>(sizeof(RememberedPrompt)))});
  history.Remember("small", Remembered(1000));
  for (int i = 0; i < 20; ++i) history.Remember("large", Remembered(1000));
  EXPECT_THAT(history.Of("small"), SizeIs(1));
  EXPECT_THAT(history.Of("large"), SizeIs(3));
  EXPECT_THAT(history.tenants(), ::testing::UnorderedElementsAre("small", "large"));
  history.Forget("large");
  EXPECT_THAT(history.Of("large"), IsEmpty());
  history.Remember("other", Remembered(1000));
  EXPECT_THAT(history.Of("small"), SizeIs(1));
}

TEST(PromptHistoryTest, WhatIsLargerThanAllRoomIsForgottenAtOnce) {
  PromptHistory history({.max_bytes = 100});
  history.Remember("a", Remembered(1000));
  EXPECT_THAT(history.Of("a"), IsEmpty());
  EXPECT_THAT(history.tenants(), IsEmpty());
}

TEST(PromptHistoryTest, KeepsTheBeginningAndNothingWhenOff) {
  PromptHistory history({.max_tokens_of_a_prompt = 3});
  EXPECT_THAT(history.Beginning(Tokens(1, 5)), ElementsAre(TokenId{1}, TokenId{2}, TokenId{3}));
  PromptHistory off({.max_bytes = 0});
  EXPECT_FALSE(off.enabled());
  EXPECT_THAT(off.Beginning(Tokens(1, 5)), IsEmpty());
  off.Remember("a", Remembered(10));
  EXPECT_THAT(off.Of("a"), IsEmpty());
}

}  // namespace
}  // namespace headstart
