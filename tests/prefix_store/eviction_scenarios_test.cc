// Capacity, leases and eviction: the cases E1 to E9 and C1 to C5 that concern the store.

#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/prefix_store/store_harness.h"

namespace headstart::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class EvictionScenario : public ::testing::TestWithParam<EvictionPolicyKind> {
 protected:
  PrefixStoreOptions Blocks(int64_t blocks) const { return {.device_blocks = blocks, .policy = GetParam()}; }
};

INSTANTIATE_TEST_SUITE_P(Policies, EvictionScenario,
                         ::testing::Values(EvictionPolicyKind::kLru, EvictionPolicyKind::kSegmentedLru,
                                           EvictionPolicyKind::kHitDensity));

TEST_P(EvictionScenario, E1TheHitIsNotTheVictim) {
  StoreHarness harness(Blocks(4));
  harness.Run(Count(0, 32));    // the older two
  harness.Run(Count(100, 32));  // the pool is full
  EXPECT_EQ(harness.Run(Count(0, 32) + Count(200, 32)), 32);
  EXPECT_EQ(harness.Hit(Count(100, 32)), 0);
}

TEST_P(EvictionScenario, E2RefusalChangesNothing) {
  StoreHarness harness(Blocks(8));
  harness.Run(Count(0, 32));
  harness.Run(Count(100, 32));
  const Running busy = harness.Start(Count(200, 64));
  const PrefixStoreStats before = harness.store.stats();
  const auto refused = harness.store.Acquire({.tokens = Count(0, 32) + Count(300, 48)});
  EXPECT_THAT(refused,
              StatusIs(absl::StatusCode::kResourceExhausted, AllOf(HasSubstr("3 more blocks"), HasSubstr("2 of 8"))));
  const PrefixStoreStats after = harness.store.stats();
  EXPECT_EQ(after.leased_blocks, before.leased_blocks);
  EXPECT_EQ(after.evictable_blocks, before.evictable_blocks);
  EXPECT_EQ(after.acquisitions, before.acquisitions);
  EXPECT_EQ(after.hit_tokens, before.hit_tokens);
  // Had the refused one been a use of the first prompt, the second would go now.
  harness.Run(Count(400, 16));
  EXPECT_EQ(harness.Hit(Count(0, 32)), 16);
  EXPECT_EQ(harness.Hit(Count(100, 32)), 31);
  EXPECT_OK(harness.store.Check());
}

TEST_P(EvictionScenario, E2RefusedReserveChangesNothing) {
  StoreHarness harness(Blocks(4));
  Running running = harness.Start(Count(0, 40));
  const Running other = harness.Start(Count(100, 10));
  EXPECT_OK(running.blocks.Reserve(48));
  EXPECT_THAT(running.blocks.Reserve(49),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("1 more blocks and 0 of 4")));
  EXPECT_EQ(running.blocks.slots().size(), 3);
  harness.ExpectRight(running, 40);
}

TEST_P(EvictionScenario, E3TheChildGoesFirst) {
  StoreHarness harness(Blocks(4));
  harness.Run(Count(0, 32));
  harness.Run(Count(0, 32) + Count(100, 32));
  std::vector<Running> busy;
  for (int left = 4; left > 0; --left) {
    EXPECT_EQ(harness.Hit(Count(0, 32) + Count(100, 33)), left * 16);
    busy.push_back(harness.Start(Count(1000 * left, 16)));
  }
  EXPECT_EQ(harness.Hit(Count(0, 32)), 0);
}

TEST(EvictionScenarioDefault, E4AScanDoesNotPushOutWhatIsUsed) {
  StoreHarness harness({.device_blocks = 128});
  const Tokens prefix = Count(0, 64 * 16);
  for (int i = 0; i < 100; ++i) harness.Run(prefix);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_OK_AND_ASSIGN(SequenceBlocks blocks,
                         harness.store.Acquire({.tokens = Count(10'000 + 1000 * i, 16 + i % 900)}));
    blocks.Take(16 + i % 900);
    blocks.Publish(Count(10'000 + 1000 * i, 16 + i % 900));
  }
  EXPECT_EQ(harness.Hit(prefix), 64 * 16 - 1);
}

TEST_P(EvictionScenario, E5WithoutWritingTheTreeStaysAsItWas) {
  StoreHarness harness(Blocks(32));
  harness.Run(Count(0, 40));
  const PrefixStoreStats before = harness.store.stats();
  {
    Running reader = harness.Begin({.tokens = Count(0, 20) + Count(100, 60), .write_cache = false});
    EXPECT_EQ(reader.hit(), 20);
    EXPECT_EQ(reader.blocks.Publish(reader.tokens), 0);
    EXPECT_EQ(harness.Lookup(Count(0, 20) + Count(100, 60)).pending_tokens, 0) << "it promises nothing";
  }
  const PrefixStoreStats after = harness.store.stats();
  EXPECT_EQ(after.nodes, before.nodes);
  EXPECT_EQ(after.cached_tokens, before.cached_tokens);
  EXPECT_EQ(after.free_blocks, before.free_blocks);
}

TEST_P(EvictionScenario, WithoutReadingNothingIsHitButTheCacheIsWritten) {
  StoreHarness harness(Blocks(32));
  harness.Run(Count(0, 40));
  Running blind = harness.Begin({.tokens = Count(0, 60), .read_cache = false});
  EXPECT_EQ(blind.hit(), 0);
  EXPECT_EQ(blind.blocks.miss_reason(), MissReason::kCachingOff);
  harness.Publish(blind);
  EXPECT_EQ(blind.published, 28) << "two blocks were there already";
  EXPECT_EQ(harness.Hit(Count(0, 60)), 59);
}

TEST_P(EvictionScenario, E7CancelledAtRandomNothingLeaks) {
  StoreHarness harness(Blocks(32));
  std::mt19937 random(7);
  std::vector<Running> running;
  for (int i = 0; i < 1000; ++i) {
    const Tokens prompt = Count(0, random() % 40) + Count(random() % 4 * 100, 1 + random() % 60);
    auto blocks = harness.store.Acquire({.tokens = prompt});
    if (blocks.ok()) running.push_back({*std::move(blocks), Scope::Public(), prompt});
    if (!running.empty() && random() % 2 == 0) running.back().blocks.CopiesDone();
    while (running.size() > random() % 5) running.erase(running.begin() + random() % running.size());
    ASSERT_OK(harness.store.Check());
  }
  running.clear();
  EXPECT_EQ(harness.store.stats().free_blocks, 32);
}

TEST_P(EvictionScenario, E8TimeIsTicksAlone) {
  StoreHarness harness(Blocks(4));
  harness.Run(Count(0, 16));
  harness.Run(Count(100, 16));
  harness.Run(Count(200, 16));
  harness.Run(Count(300, 16));
  harness.Run(Count(400, 32));
  EXPECT_EQ(harness.Hit(Count(100, 17)), 0);
  EXPECT_EQ(harness.Hit(Count(200, 17)), 16);
}

TEST_P(EvictionScenario, E9LargerThanThePoolIsRefusedWithTheNumbers) {
  StoreHarness harness(Blocks(4));
  EXPECT_THAT(
      harness.store.Acquire({.tokens = Count(0, 65)}),
      StatusIs(absl::StatusCode::kFailedPrecondition, AllOf(HasSubstr("5 blocks of 16"), HasSubstr("4 in all"))));
  EXPECT_THAT(harness.store.Acquire({.tokens = Count(0, 1), .reserve_tokens = 65}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("5 blocks")));
  EXPECT_OK(harness.store.Acquire({.tokens = Count(0, 64)}));
  EXPECT_THAT(harness.store.Acquire({}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at least one token")));
}

TEST_P(EvictionScenario, E10APreemptedSequenceResumesWithHits) {
  StoreHarness harness(Blocks(6));
  Running first = harness.Start(Count(0, 40));
  harness.Generate(first, Count(500, 5));
  const Tokens so_far = first.tokens;
  first.blocks = SequenceBlocks();
  EXPECT_EQ(harness.Run(so_far), 44);
}

TEST(Concurrency, C1IdenticalPromptsAreSeenPending) {
  StoreHarness harness({.device_blocks = 256});
  const Tokens prompt = Count(0, 100);
  Running owner = harness.Begin({.tokens = prompt});
  EXPECT_EQ(harness.Lookup(prompt).pending_tokens, 96);
  EXPECT_EQ(harness.Lookup(Prefix(prompt, 50)).pending_tokens, 48);
  EXPECT_EQ(harness.Lookup(Prefix(prompt, 48)).pending_tokens, 47) << "the last token is always computed";
  EXPECT_EQ(harness.Lookup(Prefix(prompt, 40) + Count(900, 40)).pending_tokens, 32);
  owner.blocks.Publish(Prefix(prompt, 40));
  EXPECT_EQ(harness.Lookup(prompt).matched_tokens, 40);
  EXPECT_EQ(harness.Lookup(prompt).pending_tokens, 56);
  harness.Publish(owner);
  EXPECT_EQ(harness.Lookup(prompt).pending_tokens, 0);
  EXPECT_EQ(harness.Lookup(prompt).matched_tokens, 99);
}

TEST(Concurrency, C1TwoThatDidNotWaitEndUpSharing) {
  StoreHarness harness({.device_blocks = 256});
  Running a = harness.Begin({.tokens = Count(0, 100)});
  Running b = harness.Begin({.tokens = Count(0, 100)});
  harness.Publish(a);
  harness.Publish(b);
  EXPECT_EQ(a.published, 100);
  EXPECT_EQ(b.published, 0);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(a.blocks.slots()[i], b.blocks.slots()[i]);
  EXPECT_EQ(harness.store.stats().leased_blocks, 8);
}

TEST(Concurrency, C2TheOwnersEndEndsItsPromise) {
  StoreHarness harness({.device_blocks = 256});
  { const Running owner = harness.Begin({.tokens = Count(0, 100)}); }
  EXPECT_EQ(harness.Lookup(Count(0, 100)).pending_tokens, 0);
  EXPECT_EQ(harness.store.stats().free_blocks, 256);
}

TEST(Concurrency, C3NothingIsSeenBeforeItIsPublished) {
  StoreHarness harness({.device_blocks = 64});
  Running running = harness.Begin({.tokens = Count(0, 50)});
  EXPECT_EQ(harness.Hit(Count(0, 50)), 0);
  running.blocks.Publish(Prefix(running.tokens, 21));
  EXPECT_EQ(harness.Hit(Count(0, 50)), 21);
  const Running reader = harness.Begin({.tokens = Count(0, 50)});
  EXPECT_EQ(reader.hit(), 21);
}

TEST(Concurrency, C5FlushWhileRunning) {
  StoreHarness harness({.device_blocks = 64});
  harness.Run(Count(0, 48));
  Running running = harness.Start(Count(0, 32) + Count(100, 32));
  const Running copying = harness.Begin({.tokens = Count(0, 40) + Count(200, 40)});
  EXPECT_EQ(harness.store.Flush(), 1) << "the third block of the first prompt alone was not held";
  EXPECT_EQ(harness.Hit(Count(0, 48)), 0);
  EXPECT_EQ(harness.Lookup(Count(0, 40) + Count(200, 40)).pending_tokens, 0);
  harness.Generate(running, Count(300, 40));
  EXPECT_EQ(harness.Hit(running.tokens), 0) << "what was built on the forgotten is forgotten too";
  harness.ExpectRight(copying, 80);
  EXPECT_EQ(harness.Run(Count(0, 48)), 0);
  running.blocks = SequenceBlocks();
  EXPECT_EQ(harness.Hit(Count(0, 48)), 47) << "letting go of the old takes nothing of the new";
  EXPECT_OK(harness.store.Check());
}

TEST(Concurrency, C5FlushWhileACopyIsDue) {
  StoreHarness harness({.device_blocks = 64});
  harness.Run(Count(0, 24));
  auto blocks = harness.store.Acquire({.tokens = Count(0, 20) + Count(100, 20)});
  ASSERT_OK(blocks);
  ASSERT_EQ(blocks->copies().size(), 1);
  EXPECT_EQ(harness.store.Flush(), 0) << "the copied block is held as well";
  auto other = harness.store.Acquire({.tokens = Count(500, 59 * 16)});
  ASSERT_OK(other);
  other->Take(59 * 16);
  for (const SlotIndex slot : other->slots()) EXPECT_NE(slot, blocks->copies()[0].from);
  blocks->CopiesDone();
  EXPECT_OK(harness.store.Check());
}

}  // namespace
}  // namespace headstart::testing
