// The facade: options, counts, reasons, and a SequenceBlocks' life.

#include "prefix_store/prefix_store.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/prefix_store/store_harness.h"

namespace headstart::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(PrefixStoreOptions, WrongOnesAreNamedWithTheirLimit) {
  const auto refused = [](PrefixStoreOptions options, const char* name, const char* value) {
    EXPECT_THAT(PrefixStore::Validate(options),
                StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr(name), HasSubstr(value))));
  };
  refused({.block_tokens = 4, .device_blocks = 1}, "block_tokens", "8 to 256");
  refused({.block_tokens = 24, .device_blocks = 1}, "block_tokens", "24");
  refused({.block_tokens = 512, .device_blocks = 1}, "block_tokens", "512");
  refused({.block_tokens = -16, .device_blocks = 1}, "block_tokens", "-16");
  refused({}, "device_blocks", "0");
  refused({.device_blocks = int64_t{1} << 33}, "device_blocks", "8589934592");
  refused({.device_blocks = 1, .hash_bits = 65}, "hash_bits", "65");
  EXPECT_OK(PrefixStore::Validate({.block_tokens = 256, .device_blocks = 1, .hash_bits = 0}));
}

TEST(PrefixStore, CountsAddUp) {
  StoreHarness harness({.device_blocks = 32});
  EXPECT_EQ(harness.store.stats().free_blocks, 32);
  harness.Run(Count(0, 40));
  const Running second = harness.Start(Count(0, 40) + Count(100, 10));
  const PrefixStoreStats stats = harness.store.stats();
  EXPECT_EQ(stats.pool_blocks, 32);
  EXPECT_EQ(stats.free_blocks + stats.leased_blocks + stats.evictable_blocks, 32);
  EXPECT_EQ(stats.leased_blocks, 4);
  EXPECT_EQ(stats.acquisitions, 2);
  EXPECT_EQ(stats.queried_tokens, 90);
  EXPECT_EQ(stats.hit_tokens, 40);
  EXPECT_EQ(stats.written_tokens, 50);
  EXPECT_EQ(stats.copied_blocks, 1);
  EXPECT_EQ(stats.cached_tokens, 50);
}

TEST(PrefixStore, ReasonsForAMiss) {
  StoreHarness harness({.device_blocks = 8});
  EXPECT_EQ(harness.Lookup({}).miss_reason, MissReason::kShorterThanBlock);
  EXPECT_EQ(harness.Lookup(Count(0, 1)).miss_reason, MissReason::kShorterThanBlock);
  EXPECT_EQ(harness.Lookup(Count(0, 40)).miss_reason, MissReason::kNew);
  harness.Run(Count(0, 40));
  EXPECT_EQ(harness.Lookup(Count(0, 40)).miss_reason, MissReason::kNone);
  EXPECT_EQ(harness.Lookup(Count(0, 50)).miss_reason, MissReason::kNew) << "it goes on where the cached one ends";
  EXPECT_EQ(harness.Lookup(Count(0, 20) + Count(90, 9)).miss_reason, MissReason::kDiverged);
  EXPECT_EQ(harness.Lookup(Count(70, 20)).miss_reason, MissReason::kNew);
  harness.Run(Count(200, 7 * 16));
  EXPECT_EQ(harness.Hit(Count(0, 40)), 16);
  EXPECT_EQ(harness.Lookup(Count(0, 40)).miss_reason, MissReason::kEvicted);
}

TEST(PrefixStore, AnEvictedTailIsRememberedToo) {
  StoreHarness harness({.device_blocks = 4});
  harness.Run(Count(0, 10));
  harness.Run(Count(200, 4 * 16));
  EXPECT_EQ(harness.Lookup(Count(0, 10)).miss_reason, MissReason::kEvicted);
  EXPECT_EQ(harness.Lookup(Count(0, 30)).miss_reason, MissReason::kEvicted);
  EXPECT_EQ(harness.Lookup(Count(1, 30)).miss_reason, MissReason::kNew);
}

TEST(PrefixStore, PublishingTwiceWritesOnce) {
  StoreHarness harness({.device_blocks = 32});
  Running running = harness.Start(Count(0, 40));
  EXPECT_EQ(running.published, 40);
  EXPECT_EQ(running.blocks.Publish(running.tokens), 0);
  EXPECT_EQ(running.blocks.Publish(Prefix(running.tokens, 20)), 0);
  EXPECT_EQ(harness.store.stats().written_tokens, 40);
}

TEST(PrefixStore, HitTokensAreNotCountedAsWritten) {
  StoreHarness harness({.device_blocks = 32});
  harness.Run(Count(0, 40));
  const Running second = harness.Start(Count(0, 36) + Count(100, 20));
  EXPECT_EQ(second.hit(), 36);
  EXPECT_EQ(second.published, 20);
}

TEST(PrefixStore, ATailThatAnotherHasDrawnAheadOfStaysRight) {
  StoreHarness harness({.device_blocks = 32});
  Running a = harness.Start(Count(0, 5));
  Running b = harness.Start(Count(0, 9));  // extends a's tail, which leaves the tree
  harness.Generate(a, Count(5, 2));        // still covered by b's
  EXPECT_EQ(a.published, 5);
  harness.Generate(a, Count(70, 2));  // on its own again
  EXPECT_EQ(a.published, 7) << "what b's tail covered is not written again";
  EXPECT_EQ(harness.Hit(Count(0, 7) + Count(70, 3)), 9);
  EXPECT_EQ(harness.Hit(Count(0, 12)), 9);
}

TEST(SequenceBlocks, EmptyOneHoldsNothing) {
  SequenceBlocks blocks;
  EXPECT_TRUE(blocks.slots().empty());
  EXPECT_TRUE(blocks.copies().empty());
  EXPECT_EQ(blocks.cached_tokens(), 0);
  EXPECT_EQ(blocks.Publish(Count(0, 9)), 0);
  EXPECT_THAT(blocks.Reserve(1), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("empty")));
  blocks.CopiesDone();
}

TEST(SequenceBlocks, MovingHandsOverAndAssigningLetsGo) {
  PrefixStore store({.device_blocks = 8});
  auto first = store.Acquire({.tokens = Count(0, 20)});
  auto second = store.Acquire({.tokens = Count(100, 40)});
  SequenceBlocks blocks = *std::move(first);
  blocks.Take(20);
  EXPECT_EQ(store.stats().leased_blocks, 2);
  EXPECT_EQ(store.stats().reserved_blocks, 3);
  blocks = *std::move(second);
  blocks.Take(40);
  EXPECT_EQ(store.stats().leased_blocks, 3);
  EXPECT_EQ(store.stats().reserved_blocks, 0);
  EXPECT_EQ(blocks.slots().size(), 3);
  blocks = SequenceBlocks();
  EXPECT_EQ(store.stats().free_blocks, 8);
}

TEST(SequenceBlocks, ReserveGrowsAndNeverShrinks) {
  PrefixStore store({.device_blocks = 8});
  auto blocks = store.Acquire({.tokens = Count(0, 20), .reserve_tokens = 40});
  ASSERT_OK(blocks);
  EXPECT_EQ(store.stats().reserved_blocks, 3);
  EXPECT_OK(blocks->Reserve(10));
  EXPECT_EQ(store.stats().reserved_blocks, 3);
  EXPECT_OK(blocks->Reserve(128));
  EXPECT_EQ(store.stats().reserved_blocks, 8);
  EXPECT_FALSE(store.Acquire({.tokens = Count(500, 1)}).ok()) << "what is promised is not given away";
}

TEST(SequenceBlocks, RoomIsTakenStepByStep) {
  StoreHarness harness({.device_blocks = 8});
  harness.Run(Count(0, 64));
  auto blocks = harness.store.Acquire({.tokens = Count(1000, 128)});
  ASSERT_OK(blocks);
  EXPECT_EQ(harness.Hit(Count(0, 64)), 63) << "nothing had to go yet";
  blocks->Take(80);
  EXPECT_EQ(blocks->slots().size(), 5);
  EXPECT_EQ(harness.Hit(Count(0, 64)), 48);
  blocks->Take(128);
  EXPECT_EQ(harness.Hit(Count(0, 64)), 0);
  EXPECT_OK(harness.store.Check());
}

}  // namespace
}  // namespace headstart::testing
