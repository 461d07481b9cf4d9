// How long blocks live, rest and wait to be found again.

#include "prefix_store/block_ages.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/prefix_store/tiered_store.h"

namespace headstart::testing {
namespace {

using ::testing::DoubleEq;

// Lets time pass in seconds.
void Wait(TieredStore& store, int64_t seconds) { store.now = AgeMs{static_cast<int64_t>(store.now) + 1000 * seconds}; }

BlockAgeHistograms Ages(const TieredStore& store) { return store.store->stats().ages; }

const SecondsHistogram& Idle(const BlockAgeHistograms& ages, TierKind tier) {
  return ages.idle_before_eviction[static_cast<size_t>(tier)];
}

TEST(SecondsHistogram, ABoundBelongsToTheRangeThatItEnds) {
  static constexpr double kBounds[] = {1, 10};
  SecondsHistogram histogram(kBounds);
  histogram.Observe(1);
  histogram.Observe(1.5, 2);
  histogram.Observe(10.5);
  EXPECT_THAT(histogram.counts(), ::testing::ElementsAre(1, 2, 1));
  EXPECT_EQ(histogram.count(), 4);
  EXPECT_THAT(histogram.sum_seconds(), DoubleEq(14.5));
}

TEST(BlockAges, AGapIsCountedForEachBlockFoundAgain) {
  TieredStore store({.device = 8, .host = 0}, nullptr);
  store.Run(Count(0, 48));
  Wait(store, 45);
  store.Run(Count(0, 48));
  Wait(store, 5);
  store.Run(Count(0, 17) + Count(900, 3));  // one whole block, and a part of the next
  const SecondsHistogram gaps = Ages(store).reuse_gap;
  EXPECT_THAT(gaps.sum_seconds(), DoubleEq(2 * 45 + 5)) << "a part that is copied is no reuse of the block";
  EXPECT_EQ(gaps.count(), 3);
}

TEST(BlockAges, ABlockInUseHasNoGap) {
  TieredStore store({.device = 8, .host = 0}, nullptr);
  const Running running = store.Start(Count(0, 48));
  Wait(store, 45);
  store.Run(Count(0, 48));
  EXPECT_EQ(Ages(store).reuse_gap.count(), 0);
}

TEST(BlockAges, EvictionFromTheDeviceEndsTheIdleTimeThere) {
  TieredStore store({.device = 5, .host = 0}, nullptr);
  store.Run(Count(0, 64));
  Wait(store, 7);
  store.Run(Count(0, 64));
  Wait(store, 20);
  store.Run(Count(100, 48));
  const BlockAgeHistograms ages = Ages(store);
  EXPECT_EQ(Idle(ages, TierKind::kDevice).count(), 2);
  EXPECT_THAT(Idle(ages, TierKind::kDevice).sum_seconds(), DoubleEq(2 * 20));
  EXPECT_EQ(store.store->stats().evicted_blocks, 2);
}

// Every tier's evictions are its own, and the first use of all goes on counting.
TEST(BlockAges, EachTierHasItsOwn) {
  SimulatedDisk disk(4);
  TieredStore store({.device = 4, .host = 4}, &disk);
  store.Run(Count(0, 64));
  Wait(store, 10);
  store.Thrash(4);  // it leaves the device
  Wait(store, 10);
  store.Thrash(16);
  const BlockAgeHistograms ages = Ages(store);
  EXPECT_GE(Idle(ages, TierKind::kDevice).count(), 16);
  EXPECT_GE(Idle(ages, TierKind::kHost).count(), 4);
  EXPECT_GE(Idle(ages, TierKind::kDisk).count(), 4);
  EXPECT_GE(Idle(ages, TierKind::kDisk).sum_seconds(), 4 * 20);
}

// Births are kept of some blocks alone; over many they tell of all.
TEST(BlockAges, ALifeLastsFromPublicationUntilNoTierHasTheBlock) {
  constexpr int kBlocks = 4 * BlockAges::kBirthSample;
  TieredStore store({.device = kBlocks, .host = 0}, nullptr);
  Wait(store, 3);
  store.Run(Count(0, 16 * kBlocks));
  Wait(store, 50);
  store.Run(Count(0, 16 * kBlocks));
  Wait(store, 50);
  EXPECT_EQ(Ages(store).lifetime.count(), 0);
  store.Run(Count(100'000, 16 * kBlocks));
  EXPECT_EQ(Ages(store).lifetime.count(), kBlocks / BlockAges::kBirthSample);
  EXPECT_THAT(Ages(store).lifetime.sum_seconds(), DoubleEq(100.0 * kBlocks / BlockAges::kBirthSample));
}

TEST(BlockAges, AMoveToALowerTierIsNoEnd) {
  constexpr int kBlocks = BlockAges::kBirthSample;
  TieredStore store({.device = kBlocks, .host = 4 * kBlocks}, nullptr);
  store.Run(Count(0, 16 * kBlocks));
  Wait(store, 60);
  store.Run(Count(100'000, 16 * kBlocks));
  EXPECT_EQ(Idle(Ages(store), TierKind::kDevice).count(), kBlocks);
  EXPECT_EQ(Ages(store).lifetime.count(), 0);
}

// What somebody asked to have gone says nothing of the room there is.
TEST(BlockAges, AFlushEndsNoLife) {
  constexpr int kBlocks = BlockAges::kBirthSample;
  TieredStore store({.device = kBlocks, .host = 0}, nullptr);
  store.Run(Count(0, 16 * kBlocks));
  Wait(store, 60);
  store.store->Flush();
  EXPECT_EQ(Ages(store).lifetime.count(), 0);
  store.Run(Count(0, 16 * kBlocks));
  EXPECT_EQ(Ages(store).reuse_gap.count(), 0);
}

TEST(Transfers, TheirTimesAreThoseOfTheirTiers) {
  SimulatedDisk disk(100);
  TieredStore store({.device = 8, .host = 4}, &disk);
  store.io_step = absl::Milliseconds(2);
  store.Run(Count(0, 48));
  store.Thrash(20);
  const int64_t writes = store.store->stats().transfers.disk_writes.count();
  EXPECT_GT(writes, 0);
  EXPECT_EQ(store.store->stats().transfers.disk_reads.count(), 0);
  store.Run(Count(0, 48));
  const TransferHistograms transfers = store.store->stats().transfers;
  EXPECT_GT(transfers.disk_reads.count(), 0);
  EXPECT_THAT(transfers.disk_reads.sum_seconds(), DoubleEq(0.002 * static_cast<double>(transfers.disk_reads.count())));
}

}  // namespace
}  // namespace headstart::testing
