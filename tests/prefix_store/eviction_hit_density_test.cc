#include <optional>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "prefix_store/eviction/hit_density.h"

namespace headstart::testing {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kSecond = 1000;
constexpr int64_t kHour = 3600 * kSecond;

bool Any(BlockId) { return true; }

BlockFacts UsedAt(int64_t at_ms, int8_t priority = 0) {
  return {.priority = priority, .tokens = 16, .last_use = {.at = AgeMs{at_ms}, .turn = 1}};
}

std::vector<int> Drain(EvictionPolicy& policy, int64_t now_ms) {
  std::vector<int> order;
  while (const auto victim = policy.Victim(AgeMs{now_ms}, Any)) {
    order.push_back(static_cast<int>(ToIndex(*victim)));
    policy.Untrack(*victim, UntrackReason::kEvicted);
  }
  return order;
}

TEST(HitDensity, ColdItIsLru) {
  const ReuseModel model;
  HitDensityPolicy policy(model);
  std::vector<int> expected;
  for (int block = 0; block < 200; ++block) {
    policy.Track(BlockId{static_cast<uint32_t>(block)}, UsedAt(block * block * kSecond));
    expected.push_back(block);
  }
  EXPECT_EQ(Drain(policy, 200 * 200 * kSecond), expected);
}

TEST(HitDensity, WhileTimeStandsStillItIsLru) {
  const ReuseModel model;
  HitDensityPolicy policy(model);
  for (const uint32_t block : {3u, 1u, 2u, 0u}) policy.Track(BlockId{block}, UsedAt(77));
  EXPECT_THAT(Drain(policy, 77), ElementsAre(3, 1, 2, 0));
}

TEST(HitDensity, TimeMayJumpAndGoBack) {
  const ReuseModel model;
  HitDensityPolicy policy(model);
  policy.Track(BlockId{0}, UsedAt(0));
  EXPECT_EQ(policy.Victim(AgeMs{int64_t{1} << 60}, Any), BlockId{0});
  policy.Track(BlockId{1}, UsedAt(5));
  policy.Track(BlockId{2}, UsedAt(int64_t{1} << 60));
  EXPECT_THAT(Drain(policy, 5), ElementsAre(0, 1, 2));
}

TEST(HitDensity, AfterALeapInTimeAllIsOrderedByAgeAgainSoon) {
  constexpr uint32_t kBlocks = 20'000;
  const ReuseModel model;
  HitDensityPolicy policy(model);
  policy.Track(BlockId{kBlocks}, UsedAt(0, -1));
  for (uint32_t block = 0; block < kBlocks; ++block) policy.Track(BlockId{block}, UsedAt(block % 2 == 0 ? 1 : 0));
  for (int i = 0; i < 10; ++i) policy.Victim(AgeMs{kHour}, Any);
  policy.Track(BlockId{kBlocks + 1}, UsedAt(kHour));
  const std::vector<int> order = Drain(policy, kHour);
  EXPECT_EQ(order.front(), kBlocks);
  EXPECT_EQ(order.back(), kBlocks + 1);
  EXPECT_EQ(order.size(), kBlocks + 2);
}

TEST(HitDensity, ABlockFromAFasterTierIsAsOldAsItIs) {
  const ReuseModel model;
  HitDensityPolicy policy(model);
  policy.Track(BlockId{0}, UsedAt(10 * kHour));
  policy.Track(BlockId{1}, UsedAt(1 * kHour));
  EXPECT_THAT(Drain(policy, 10 * kHour), ElementsAre(1, 0));
}

TEST(HitDensity, AHighPriorityKeepsNothingForEver) {
  const ReuseModel model;
  HitDensityPolicy policy(model);
  policy.Track(BlockId{0}, UsedAt(0, 1));
  policy.Track(BlockId{1}, UsedAt(30 * kSecond));
  EXPECT_EQ(policy.Victim(AgeMs{60 * kSecond}, Any), BlockId{1}) << "twice as old, but wanted";
  policy.Untrack(BlockId{1}, UntrackReason::kLeased);
  policy.Track(BlockId{1}, UsedAt(48 * kHour));
  EXPECT_EQ(policy.Victim(AgeMs{48 * kHour + 60 * kSecond}, Any), BlockId{0}) << "not used for two days";
}

// A system prompt's blocks are the oldest of all and can never go while chats hang below them. Finding the chats'
// blocks must not walk over them each time.
TEST(HitDensity, WhatMayNotGoIsNotAskedAfterAgainAndAgain) {
  constexpr uint32_t kInner = 10'000;
  const ReuseModel model;
  HitDensityPolicy policy(model);
  for (uint32_t block = 0; block < kInner; ++block) policy.Track(BlockId{block}, UsedAt(0));
  for (uint32_t block = kInner; block < 2 * kInner; ++block) policy.Track(BlockId{block}, UsedAt(kSecond));
  int64_t asked = 0;
  for (uint32_t i = 0; i < kInner; ++i) {
    const auto victim = policy.Victim(AgeMs{kHour}, [&](BlockId block) { return ++asked, ToIndex(block) >= kInner; });
    ASSERT_EQ(victim, BlockId{kInner + i});
    policy.Untrack(*victim, UntrackReason::kEvicted);
  }
  EXPECT_LE(asked, 4 * kInner);
  EXPECT_EQ(Drain(policy, kHour).size(), kInner) << "and when nothing hangs below them any more, they go";
}

// E4 where it is decided: answers that were read and scans that were not, in a hundred equal rounds; then a chat waits
// for its reader while a scan goes by.
TEST(HitDensity, AScanGoesBeforeTheChatsThatWait) {
  ReuseModel model;
  const auto ends = [&](int64_t now, uint64_t name, uint32_t blocks, uint64_t last) {
    std::vector<SequenceBlock> sequence;
    for (uint64_t i = 0; i + 1 < blocks; ++i) sequence.push_back({name * 1000 + i, 0});
    sequence.push_back({name * 1000 + 500 + last, 0});
    return model.SequenceEnds(AgeMs{now}, sequence);
  };
  int64_t now = 0;
  for (uint64_t round = 0; round < 100; ++round) {
    ends(now, 10'000 + round, 4, 0);
    for (uint64_t scan = 0; scan < 10; ++scan) ends(now += kSecond, 20'000 + 10 * round + scan, 100, 0);
    ends(now += 20 * kSecond, 10'000 + round, 6, 1);
    now += 300 * kSecond;
  }
  HitDensityPolicy policy(model);
  policy.Track(BlockId{0}, {.tokens = 16, .last_use = ends(now, 1, 4, 0)});
  for (uint32_t scan = 1; scan < 20; ++scan) {
    policy.Track(BlockId{scan}, {.tokens = 16, .last_use = ends(now += kSecond / 2, 30'000 + scan, 100, 0)});
  }
  EXPECT_EQ(Drain(policy, now).back(), 0);
}

TEST(HitDensity, FollowsWhatTheModelLearnsLater) {
  ReuseModel model;
  HitDensityPolicy policy(model);
  const auto ends = [&](int64_t now, uint64_t name, uint32_t blocks) {
    std::vector<SequenceBlock> prefixes;
    for (uint64_t i = 0; i < blocks; ++i) prefixes.push_back({name * 1000 + i, 0});
    return model.SequenceEnds(AgeMs{now}, prefixes);
  };
  const LastUse chat = ends(0, 1, 4);
  const LastUse report = ends(0, 2, 100);
  policy.Track(BlockId{0}, {.tokens = 16, .last_use = chat});
  policy.Track(BlockId{1}, {.tokens = 16, .last_use = report});
  EXPECT_EQ(policy.Victim(AgeMs{0}, Any), BlockId{0}) << "nothing tells them apart yet";
  // Chats go on after 90 seconds; within the next 80 that is seen of hundreds of them.
  constexpr int64_t kWait = 90 * kSecond;
  for (uint64_t i = 0; i < 400; ++i) ends(0, 100 + i, 4);
  for (uint64_t i = 0; i < 400; ++i) ends(0, 1000 + i, 100);
  for (uint64_t i = 0; i < 400; ++i) ends(kWait, 100 + i, 6);
  EXPECT_EQ(policy.Victim(AgeMs{kWait}, Any), BlockId{1}) << "short ones go on";
}

}  // namespace
}  // namespace headstart::testing
