// What holds for every policy, and segmented LRU.

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "prefix_store/eviction/policy_kind.h"
#include "prefix_store/eviction/segmented_lru.h"

namespace headstart::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

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

class EveryPolicy : public ::testing::TestWithParam<EvictionPolicyKind> {
 protected:
  std::unique_ptr<EvictionPolicy> Make(int64_t blocks) const { return MakeEvictionPolicy(GetParam(), blocks, model_); }

 private:
  ReuseModel model_;
};

INSTANTIATE_TEST_SUITE_P(Policies, EveryPolicy,
                         ::testing::Values(EvictionPolicyKind::kLru, EvictionPolicyKind::kLfu,
                                           EvictionPolicyKind::kSegmentedLru, EvictionPolicyKind::kHitDensity),
                         [](const auto& chosen) {
                           std::string name(EvictionPolicyName(chosen.param));
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(EveryPolicy, HasTheNameItIsChosenBy) {
  EXPECT_EQ(Make(4)->name(), EvictionPolicyName(GetParam()));
  EXPECT_EQ(EvictionPolicyFromName(EvictionPolicyName(GetParam())), GetParam());
}

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

TEST_P(EveryPolicy, VictimSkipsWhatMayNotGoAndTracksTheSameAfterwards) {
  auto policy = Make(4);
  for (const uint32_t block : {0u, 1u, 2u}) policy->Track(BlockId{block}, Hits(block));
  EXPECT_EQ(policy->Victim(AgeMs{}, [](BlockId block) { return block == BlockId{2}; }), BlockId{2});
  EXPECT_EQ(policy->Victim(AgeMs{}, [](BlockId) { return false; }), std::nullopt);
  EXPECT_EQ(policy->size(), 3);
  EXPECT_THAT(Drain(*policy), UnorderedElementsAre(0, 1, 2));
}

TEST_P(EveryPolicy, TheChildGoesFirstWhateverTheirAges) {
  auto policy = Make(4);
  policy->Track(BlockId{1}, Hits(0));  // the child
  policy->Track(BlockId{0}, Hits(0));
  policy->Untrack(BlockId{1}, UntrackReason::kLeased);
  policy->Track(BlockId{1}, Hits(1));  // now younger than its parent
  const auto leaf = [&](BlockId block) { return block == BlockId{1} || !policy->Contains(BlockId{1}); };
  EXPECT_EQ(policy->Victim(AgeMs{}, leaf), BlockId{1});
  policy->Untrack(BlockId{1}, UntrackReason::kEvicted);
  EXPECT_EQ(policy->Victim(AgeMs{}, leaf), BlockId{0});
}

TEST_P(EveryPolicy, OfTheRandomlyUsedAlwaysTracksWhatItShould) {
  auto policy = Make(64);
  std::mt19937 random(1);
  std::set<BlockId> tracked;
  std::vector<int64_t> now = {0};
  for (int i = 0; i < 20'000; ++i) {
    if (random() % 100 == 0) now.push_back(now.back() + static_cast<int64_t>(random()) * (random() % 2000));
    const BlockId block{static_cast<uint32_t>(random() % 64)};
    if (tracked.erase(block) == 1) {
      policy->Untrack(block, UntrackReason::kLeased);
    } else {
      tracked.insert(block);
      // Sometimes last used long ago, as a block from a faster tier.
      const AgeMs used{random() % 8 == 0 ? now[random() % now.size()] : now.back()};
      policy->Track(block, {.depth = 1,
                            .hits = static_cast<uint32_t>(random() % 5000),
                            .priority = static_cast<int8_t>(static_cast<int>(random() % 3) - 1),
                            .tokens = 16,
                            .last_use = {used, static_cast<uint32_t>(random() % 4), SequenceKind{3}}});
    }
    ASSERT_EQ(policy->size(), std::ssize(tracked));
    if (tracked.empty() || random() % 4 != 0) continue;
    const int residue = static_cast<int>(random() % 5);
    const auto may_go = [&](BlockId id) { return ToIndex(id) % 5 == static_cast<uint32_t>(residue); };
    const auto victim = policy->Victim(AgeMs{now.back()}, may_go);
    ASSERT_EQ(victim.has_value(), std::any_of(tracked.begin(), tracked.end(), may_go));
    if (!victim) continue;
    ASSERT_TRUE(may_go(*victim) && tracked.contains(*victim));
    policy->Untrack(*victim, UntrackReason::kEvicted);
    tracked.erase(*victim);
  }
  EXPECT_EQ(std::ssize(Drain(*policy)), std::ssize(tracked));
}

class PolicyWithPriorities : public EveryPolicy {};

INSTANTIATE_TEST_SUITE_P(Policies, PolicyWithPriorities,
                         ::testing::Values(EvictionPolicyKind::kLru, EvictionPolicyKind::kLfu,
                                           EvictionPolicyKind::kHitDensity));

TEST_P(PolicyWithPriorities, TheLowerGoesFirst) {
  auto policy = Make(8);
  const int8_t priorities[] = {1, 0, -1, 0, 1, -1};
  for (uint32_t block = 0; block < 6; ++block) {
    policy->Track(BlockId{block}, {.priority = priorities[block], .tokens = 16});
  }
  EXPECT_THAT(Drain(*policy), ElementsAre(2, 5, 1, 3, 0, 4));
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
