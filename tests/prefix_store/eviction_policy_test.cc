#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "prefix_store/eviction/lru.h"
#include "prefix_store/eviction/segmented_lru.h"

namespace headstart::testing {
namespace {

using ::testing::ElementsAre;

BlockFacts Hits(uint32_t hits) { return {.hits = hits, .tokens = 16}; }

// Evicts everything, in order.
std::vector<int> Drain(EvictionPolicy& policy) {
  std::vector<int> order;
  while (const auto victim = policy.Victim(AgeMs{}, [](BlockId) { return true; })) {
    order.push_back(static_cast<int>(ToIndex(*victim)));
    policy.Untrack(*victim, UntrackReason::kEvicted);
  }
  return order;
}

std::map<std::string, int64_t> Counters(const EvictionPolicy& policy) {
  std::map<std::string, int64_t> counters;
  policy.VisitCounters([&](std::string_view name, int64_t value) { counters[std::string(name)] = value; });
  return counters;
}

class EveryPolicy : public ::testing::TestWithParam<bool> {
 protected:
  std::unique_ptr<EvictionPolicy> Make(int64_t blocks) const {
    if (GetParam()) return std::make_unique<LruPolicy>();
    return std::make_unique<SegmentedLruPolicy>(blocks);
  }
};

INSTANTIATE_TEST_SUITE_P(Policies, EveryPolicy, ::testing::Bool());

TEST_P(EveryPolicy, EmptyHasNoVictim) {
  auto policy = Make(4);
  EXPECT_EQ(policy->Victim(AgeMs{}, [](BlockId) { return true; }), std::nullopt);
  EXPECT_EQ(policy->size(), 0);
}

TEST_P(EveryPolicy, OldestFirst) {
  auto policy = Make(4);
  for (const uint32_t block : {2u, 0u, 3u, 1u}) policy->Track(BlockId{block}, Hits(0));
  EXPECT_EQ(policy->size(), 4);
  EXPECT_THAT(Drain(*policy), ElementsAre(2, 0, 3, 1));
}

TEST_P(EveryPolicy, AUseMakesNewest) {
  auto policy = Make(4);
  for (const uint32_t block : {0u, 1u, 2u}) policy->Track(BlockId{block}, Hits(0));
  policy->Untrack(BlockId{0}, UntrackReason::kLeased);
  EXPECT_FALSE(policy->Contains(BlockId{0}));
  policy->Track(BlockId{0}, Hits(1));
  EXPECT_THAT(Drain(*policy), ElementsAre(1, 2, 0));
}

TEST_P(EveryPolicy, VictimSkipsWhatMayNotGoAndChangesNothing) {
  auto policy = Make(4);
  for (const uint32_t block : {0u, 1u, 2u}) policy->Track(BlockId{block}, Hits(block));
  EXPECT_EQ(policy->Victim(AgeMs{}, [](BlockId block) { return block == BlockId{2}; }), BlockId{2});
  EXPECT_EQ(policy->Victim(AgeMs{}, [](BlockId) { return false; }), std::nullopt);
  EXPECT_EQ(policy->size(), 3);
  EXPECT_THAT(Drain(*policy), ElementsAre(0, 1, 2));
}

TEST_P(EveryPolicy, ResetForgetsAll) {
  auto policy = Make(4);
  policy->Track(BlockId{0}, Hits(0));
  policy->Track(BlockId{1}, Hits(5));
  policy->Reset();
  EXPECT_EQ(policy->size(), 0);
  EXPECT_FALSE(policy->Contains(BlockId{1}));
  policy->Track(BlockId{1}, Hits(0));
  EXPECT_THAT(Drain(*policy), ElementsAre(1));
}

TEST(SegmentedLru, HitBlocksOutliveNewerOnesWithoutAHit) {
  SegmentedLruPolicy policy(10);
  policy.Track(BlockId{0}, Hits(1));
  for (uint32_t block = 1; block < 5; ++block) policy.Track(BlockId{block}, Hits(0));
  EXPECT_THAT(Drain(policy), ElementsAre(1, 2, 3, 4, 0));
}

TEST(SegmentedLru, ProtectedOverItsShareDemotesItsOldest) {
  SegmentedLruPolicy policy(5);  // four may be protected
  for (uint32_t block = 0; block < 5; ++block) policy.Track(BlockId{block}, Hits(1));
  EXPECT_EQ(Counters(policy)["protected_blocks"], 4);
  EXPECT_EQ(Counters(policy)["probation_blocks"], 1);
  EXPECT_EQ(Counters(policy)["demotions"], 1);
  EXPECT_THAT(Drain(policy), ElementsAre(0, 1, 2, 3, 4));
}

}  // namespace
}  // namespace headstart::testing
