// What a prompt finds: the cases M1 to M12 that the field has already paid for.

#include <algorithm>
#include <tuple>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/prefix_store/store_harness.h"

namespace headstart::testing {
namespace {

TEST(MatchingScenario, M1SharedBlocksHaveTwoHolders) {
  StoreHarness harness({.device_blocks = 64});
  const Tokens shared = Count(0, 48);
  const Running first = harness.Start(shared + Count(1000, 7));
  EXPECT_EQ(first.hit(), 0);
  const int64_t leased = harness.store.stats().leased_blocks;
  const Running second = harness.Start(shared + Count(2000, 5));
  EXPECT_EQ(second.hit(), 48);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(first.blocks.slots()[i], second.blocks.slots()[i]);
  EXPECT_NE(first.blocks.slots()[3], second.blocks.slots()[3]);
  EXPECT_EQ(harness.store.stats().leased_blocks, leased + 1);
}

TEST(MatchingScenario, M2AtLeastOneTokenIsComputed) {
  StoreHarness harness({.device_blocks = 64});
  EXPECT_EQ(harness.Run(Count(0, 48)), 0);
  EXPECT_EQ(harness.Run(Count(0, 48)), 47);
  EXPECT_EQ(harness.Run(Count(0, 48)), 47);
  EXPECT_EQ(harness.store.stats().evictable_blocks, 3) << "the copied block gave way to the one it equals";
}

TEST(MatchingScenario, M2FitsAPoolOfItsOwnSize) {
  StoreHarness harness({.device_blocks = 3});
  EXPECT_EQ(harness.Run(Count(0, 48)), 0);
  const Running again = harness.Start(Count(0, 48));
  EXPECT_EQ(again.hit(), 32) << "there is no room for both the copied block and its copy";
  EXPECT_EQ(again.blocks.miss_reason(), MissReason::kEvicted);
}

TEST(MatchingScenario, M3OneTokenPrompt) {
  StoreHarness harness({.device_blocks = 4});
  for (int i = 0; i < 2; ++i) {
    const Running running = harness.Start(Count(0, 1));
    EXPECT_EQ(running.hit(), 0);
    EXPECT_EQ(running.blocks.miss_reason(), MissReason::kShorterThanBlock);
  }
}

TEST(MatchingScenario, M4BusyPartialBlockIsCopied) {
  StoreHarness harness({.block_tokens = 8, .device_blocks = 64});
  Running first = harness.Start(Count(0, 20));
  Running second = harness.Begin({.tokens = Count(0, 21)});
  EXPECT_EQ(second.hit(), 20);
  EXPECT_NE(first.blocks.slots()[2], second.blocks.slots()[2]);
  harness.Generate(first, Count(500, 10));  // the owner goes on filling its own
  harness.Publish(second);
  harness.ExpectRight(first, 30);
}

TEST(MatchingScenario, M5DivergesInsideABlock) {
  StoreHarness harness({.block_tokens = 8, .device_blocks = 64});
  harness.Run(Count(0, 20));
  const Running second = harness.Begin({.tokens = Count(0, 18) + Count(99, 3)});
  EXPECT_EQ(second.hit(), 18);
  EXPECT_EQ(second.blocks.miss_reason(), MissReason::kDiverged);
  EXPECT_EQ(harness.store.stats().copied_blocks, 1);
}

TEST(MatchingScenario, M6AShorterPromptHitsAllButItsLast) {
  StoreHarness harness({.device_blocks = 64});
  harness.Run(Count(0, 87));
  EXPECT_EQ(harness.Run(Count(0, 35)), 34);
}

TEST(MatchingScenario, M7LookupChangesNothing) {
  StoreHarness harness({.device_blocks = 64});
  harness.Run(Count(0, 64));
  const PrefixStoreStats before = harness.store.stats();
  EXPECT_EQ(harness.Hit(Count(0, 32) + Count(900, 32)), 32);
  EXPECT_EQ(harness.Hit(Count(0, 40) + Count(900, 32)), 40);
  const PrefixStoreStats after = harness.store.stats();
  EXPECT_EQ(before.nodes, 1);
  EXPECT_EQ(after.nodes, 1);
  EXPECT_EQ(after.acquisitions, before.acquisitions);
}

TEST(MatchingScenario, M7AcquisitionDoesNotSplitEither) {
  StoreHarness harness({.device_blocks = 64});
  harness.Run(Count(0, 64));
  Running half = harness.Begin({.tokens = Count(0, 32) + Count(900, 32)});
  EXPECT_EQ(harness.store.stats().nodes, 1);
  harness.Publish(half);
  EXPECT_EQ(harness.store.stats().nodes, 3) << "insertion splits: what is shared, and two branches";
}

TEST(MatchingScenario, M8TenThousandSiblingsAreAllFound) {
  constexpr int kSiblings = 10'000;
  PrefixStore store({.device_blocks = kSiblings + 8});
  const auto prompt = [](int i) { return Count(i * 3, 5) + Count(i, 12); };
  for (int i = 0; i < kSiblings; ++i) {
    const Tokens tokens = prompt(i);
    ASSERT_OK_AND_ASSIGN(SequenceBlocks blocks, store.Acquire({.tokens = Prefix(tokens, 16)}));
    blocks.CopiesDone();
    blocks.Take(16);
    blocks.Publish(Prefix(tokens, 16));
  }
  ASSERT_OK(store.Check());
  for (int i = 0; i < kSiblings; i += 7) {
    ASSERT_EQ(store.Lookup(Scope::Public(), prompt(i)).matched_tokens, 16);
    ASSERT_EQ(store.Lookup(Scope::Public(), Prefix(prompt(i), 9) + Count(-9, 9)).matched_tokens, 9);
  }
}

// A branch leaves at every block, so that each is a node of its own; a tenant's goes on where the public one stops.
TEST(MatchingScenario, EveryEndOfALongChainOfShortNodesIsFound) {
  constexpr int64_t kPublic = 40;
  constexpr int64_t kBlocks = 60;
  const Scope tenant = Scope::Tenant("t");
  const Tokens trunk = Count(0, kBlocks * 8);
  for (const int bits : {64, 1, 0}) {
    StoreHarness harness({.block_tokens = 8, .device_blocks = 1024, .hash_bits = bits});
    for (int64_t block = 1; block <= kBlocks; ++block) {
      harness.Run(Prefix(trunk, block * 8 - 1) + Count(-1, 9), block <= kPublic ? Scope::Public() : tenant);
    }
    ASSERT_OK(harness.store.Check());
    for (int64_t length = 1; length < std::ssize(trunk); ++length) {
      const Tokens leaves = Prefix(trunk, length) + Count(-100, 20);
      ASSERT_EQ(harness.Hit(leaves), std::min(length, kPublic * 8 - 1));
      ASSERT_EQ(harness.Hit(leaves, tenant), std::min(length, kBlocks * 8 - 1));
    }
  }
}

TEST(MatchingScenario, M9LessThanABlockIsAHit) {
  StoreHarness harness({.device_blocks = 64});
  harness.Run(Count(0, 15) + Count(100, 40));
  EXPECT_EQ(harness.Run(Count(0, 15) + Count(200, 40)), 15);
  EXPECT_EQ(harness.Run(Count(0, 15)), 14);
}

class EveryLength : public ::testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(EveryLength, M10HitIsTheSharedPrefix) {
  const auto [block_tokens, hash_bits] = GetParam();
  for (int shared = 1; shared <= 64; ++shared) {
    StoreHarness harness({.block_tokens = block_tokens, .device_blocks = 512, .hash_bits = hash_bits});
    harness.Run(Count(0, shared) + Count(1000, 1));
    for (int suffix = 1; suffix <= 64; ++suffix) {
      const Tokens prompt = Count(0, shared) + Count(2000 + 100 * suffix, suffix);
      ASSERT_EQ(harness.Hit(prompt), shared);
      const int64_t leased = harness.store.stats().leased_blocks;
      auto blocks = harness.store.Acquire({.tokens = prompt, .write_cache = false});
      ASSERT_OK(blocks);
      ASSERT_EQ(blocks->cached_tokens(), shared);
      blocks->CopiesDone();
      blocks->Take(shared + suffix);
      ASSERT_EQ(harness.store.stats().leased_blocks - leased, (shared + suffix + block_tokens - 1) / block_tokens);
    }
    for (int length = 1; length <= shared; ++length) ASSERT_EQ(harness.Hit(Count(0, length)), length - 1);
  }
}

TEST_P(EveryLength, M10EveryTwoPromptsInOneStore) {
  const auto [block_tokens, hash_bits] = GetParam();
  StoreHarness harness({.block_tokens = block_tokens, .device_blocks = 4096, .hash_bits = hash_bits});
  for (int shared = 1; shared <= 64; shared += 3) {
    for (int suffix = 1; suffix <= 64; suffix += 21) {
      const Tokens prompt = Count(0, shared) + Count(2000 + 100 * suffix + shared, suffix);
      harness.Run(prompt);
      ASSERT_EQ(harness.Run(prompt), shared + suffix - 1) << "shared " << shared << ", suffix " << suffix;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Blocks, EveryLength,
                         ::testing::Combine(::testing::Values(8, 16, 32), ::testing::Values(0, 64)));

TEST(MatchingScenario, M11NextTurnHitsPromptAndAnswer) {
  StoreHarness harness({.device_blocks = 64});
  const Tokens prompt = Count(0, 37);
  const Tokens answer = Count(500, 20);
  {
    Running turn = harness.Start(prompt);
    harness.Generate(turn, answer);
    EXPECT_EQ(turn.published, 57);
  }
  EXPECT_EQ(harness.Run(prompt + answer + Count(700, 9)), 57);
  EXPECT_EQ(harness.store.stats().cached_tokens, 57 + 9) << "the tail of the first turn gave way to the longer block";
}

// Hits, misses and counters of one workload, as one list.
std::vector<int64_t> Trace(int hash_bits) {
  // The default policy's statistics go by hashes, and may differ with them; what is found may not.
  StoreHarness harness(
      {.block_tokens = 8, .device_blocks = 40, .policy = EvictionPolicyKind::kLru, .hash_bits = hash_bits});
  std::vector<int64_t> trace;
  for (int i = 0; i < 300; ++i) {
    const Scope scope = i % 3 == 0 ? Scope::Public() : Scope::Tenant(i % 3 == 1 ? "a" : "b");
    trace.push_back(harness.Run(Count(i % 5, 9 + i % 17) + Count(i % 11, i % 29), scope));
  }
  const PrefixStoreStats stats = harness.store.stats();
  trace.insert(trace.end(), {stats.hit_tokens, stats.evicted_blocks, stats.nodes, stats.written_tokens});
  return trace;
}

TEST(MatchingScenario, M12CollidingHashesChangeNothing) {
  const std::vector<int64_t> expected = Trace(64);
  for (const int bits : {0, 1, 8}) EXPECT_EQ(Trace(bits), expected) << bits << " bits";
}

}  // namespace
}  // namespace headstart::testing
