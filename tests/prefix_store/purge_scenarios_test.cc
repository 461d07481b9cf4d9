// Purging a tenant: the case D9, and who is left alone.

#include <string>

#include "gtest/gtest.h"
#include "tests/prefix_store/store_harness.h"
#include "tests/prefix_store/tiered_store.h"

namespace headstart::testing {
namespace {

const Scope kA = Scope::Tenant("a");
const Scope kASalted = Scope::Tenant("a", "salt");
const Scope kB = Scope::Tenant("b");

TEST(PurgeScenario, OneTenantInAllItsPartitionsAndNobodyElse) {
  StoreHarness harness({.device_blocks = 64});
  harness.Run(Count(0, 32));
  harness.Run(Count(0, 64), kA);
  harness.Run(Count(500, 40), kA);
  harness.Run(Count(0, 64), kASalted);
  harness.Run(Count(0, 64), kB);
  EXPECT_EQ(harness.store.PurgeTenant("a"), 2 + 3 + 2);
  EXPECT_OK(harness.store.Check());
  EXPECT_EQ(harness.Hit(Count(0, 64), kA), 32) << "what is public stays";
  EXPECT_EQ(harness.Hit(Count(500, 40), kA), 0);
  EXPECT_EQ(harness.Hit(Count(0, 64), kASalted), 32);
  EXPECT_EQ(harness.Hit(Count(0, 64), kB), 63);
  EXPECT_EQ(harness.Lookup(Count(500, 40), kA).miss_reason, MissReason::kNew) << "nothing remembers it";
  EXPECT_EQ(harness.store.PurgeTenant("a"), 0);
  EXPECT_EQ(harness.store.PurgeTenant("nobody"), 0);
  EXPECT_FALSE(harness.store.RemovalsPending());
}

TEST(PurgeScenario, RunningSequencesFinishAndPublishNothingMore) {
  StoreHarness harness({.device_blocks = 64});
  Running mine = harness.Start(Count(0, 40), kA);
  Running other = harness.Start(Count(0, 40), kB);
  ASSERT_OK_AND_ASSIGN(const PinnedPrefix pin, harness.store.Pin(kA, Count(0, 40)));
  EXPECT_EQ(harness.store.PurgeTenant("a"), 0) << "all is held";
  harness.Generate(mine, Count(300, 40));
  harness.Generate(other, Count(300, 40));
  EXPECT_EQ(harness.Hit(mine.tokens, kA), 0);
  EXPECT_EQ(harness.Hit(other.tokens, kB), 79);
  EXPECT_EQ(pin.pinned_tokens(), 0);
  EXPECT_EQ(harness.Run(Count(0, 40), kA), 0);
  EXPECT_EQ(harness.Hit(Count(0, 40), kA), 39) << "what it sends from now on is kept";
}

int64_t RecordsOf(const SimulatedDisk& disk, const std::string& tenant) {
  int64_t records = 0;
  for (const auto& [key, record] : disk.records) records += record.meta.scope.tenant() == tenant ? 1 : 0;
  return records;
}

TEST(PurgeScenario, D9NoRecordIsLeftOnceItIsAcknowledged) {
  SimulatedDisk disk(1000);
  TieredStore store({.device = 8, .host = 4}, &disk);
  store.Run(Count(0, 48), kB);
  store.Run(Count(0, 100), kA);
  store.Thrash(20);
  ASSERT_GT(RecordsOf(disk, "a"), 0);
  store.Run(Count(2000, 48), kA);
  EXPECT_GT(store.store->StoreAll(), 0);  // some are being written
  EXPECT_EQ(store.store->PurgeTenant("a"), 10);
  EXPECT_TRUE(store.store->RemovalsPending());
  while (store.store->RemovalsPending()) {
    if (!store.io.RunOne(IoLane::kWrite)) store.io.RunOne(IoLane::kRead);
    store.store->Poll();
    ASSERT_OK(store.store->Check());
  }
  EXPECT_EQ(RecordsOf(disk, "a"), 0);
  EXPECT_GT(disk.syncs, 0);
  store.Settle();
  EXPECT_EQ(RecordsOf(disk, "a"), 0);
  EXPECT_EQ(RecordsOf(disk, "b"), 3);
}

// D9: killed after each step that the disk makes.
TEST(PurgeScenario, D9KilledInTheMiddleWhatWasAcknowledgedIsGone) {
  bool acknowledged = false;
  for (int steps = 0; !acknowledged; ++steps) {
    ASSERT_LT(steps, 100);
    SimulatedDisk disk(1000);
    {
      TieredStore store({.device = 8, .host = 4}, &disk);
      store.Run(Count(0, 100), kA);
      store.Thrash(20);
      store.Run(Count(0, 64), kA);
      store.store->StoreAll();
      store.store->PurgeTenant("a");
      for (int i = 0; i < steps; ++i) {
        store.io.RunOne(IoLane::kWrite);
        store.store->Poll();
      }
      acknowledged = !store.store->RemovalsPending();
    }
    TieredStore after({.device = 8, .host = 4}, &disk);
    if (acknowledged) {
      EXPECT_EQ(after.Run(Count(0, 100), kA).sum(), 0);
      EXPECT_EQ(RecordsOf(disk, "a"), 0);
    } else {
      after.store->PurgeTenant("a");  // as whoever got no answer would
      after.Settle();
      EXPECT_EQ(RecordsOf(disk, "a"), 0);
      EXPECT_FALSE(after.store->RemovalsPending());
    }
  }
}

TEST(PurgeScenario, ADiskThatFailsKeepsThePurgePendingUntilItWorks) {
  SimulatedDisk disk(1000);
  TieredStore store({.device = 8, .host = 4}, &disk);
  store.Run(Count(0, 100), kA);
  store.Thrash(20);
  disk.write_status = absl::UnavailableError("gone");
  store.store->PurgeTenant("a");
  store.Settle();
  EXPECT_TRUE(store.store->RemovalsPending());
  EXPECT_FALSE(store.store->stats().disk_on);
  EXPECT_EQ(store.Run(Count(0, 100), kA).sum(), 0) << "no hits meanwhile";
  disk.write_status = absl::OkStatus();
  store.now = AgeMs{10'000};
  store.Settle();
  store.Settle();
  EXPECT_FALSE(store.store->RemovalsPending());
  EXPECT_EQ(store.store->stats().disk_used_blocks, std::ssize(disk.records));
}

TEST(PurgeScenario, AFlushIsPendingUntilTheDiskHasForgotten) {
  SimulatedDisk disk(1000);
  {
    TieredStore store({.device = 8, .host = 4}, &disk);
    store.Run(Count(0, 100));
    store.Run(Count(0, 100), kA);
    store.Thrash(20);
    disk.write_status = disk.clear_status = absl::UnavailableError("gone");
    store.store->Flush();
    EXPECT_FALSE(store.store->RemovalsRefused()) << "it has not been tried yet";
    store.Settle();
    EXPECT_TRUE(store.store->RemovalsPending());
    EXPECT_TRUE(store.store->RemovalsRefused());
    EXPECT_FALSE(store.store->stats().disk_on);
    EXPECT_EQ(store.Run(Count(0, 100)).sum(), 0) << "no hits meanwhile";
    EXPECT_GT(disk.records.size(), 0);
    disk.write_status = disk.clear_status = absl::OkStatus();
    store.now = AgeMs{10'000};
    store.Settle();
    store.Settle();
    EXPECT_FALSE(store.store->RemovalsPending());
    EXPECT_EQ(disk.clears, 1);
    EXPECT_EQ(store.store->stats().disk_used_blocks, std::ssize(disk.records));
  }
  TieredStore after({.device = 8, .host = 4}, &disk);
  EXPECT_EQ(after.store->Lookup(kA, Count(0, 100)).matched_tokens, 0);
}

TEST(PurgeScenario, AFlushWorksOnAFullDiskAndTurnsItOnAgain) {
  SimulatedDisk disk(1000);
  TieredStore store({.device = 8, .host = 4}, &disk);
  store.Run(Count(0, 100));
  store.Thrash(20);
  disk.write_status = absl::ResourceExhaustedError("full");
  store.Thrash(20);
  ASSERT_FALSE(store.store->stats().disk_on);
  ASSERT_GT(disk.records.size(), 0);
  store.store->Flush();
  EXPECT_FALSE(store.store->RemovalsRefused());
  store.io.RunAll();
  disk.write_status = absl::OkStatus();  // there is room now
  store.Settle();
  EXPECT_EQ(disk.records.size(), 0);
  EXPECT_FALSE(store.store->RemovalsPending());
  store.Settle();
  EXPECT_TRUE(store.store->stats().disk_on) << "no pause is waited for";
}

TEST(PurgeScenario, WhatIsStoredAfterAFlushStays) {
  SimulatedDisk disk(1000);
  {
    TieredStore store({.device = 8, .host = 4}, &disk);
    store.Run(Count(0, 100));
    store.Thrash(20);
    disk.clear_status = absl::UnavailableError("gone");
    store.store->Flush();
    store.Settle();
    store.Run(Count(0, 100));  // the same blocks anew
    store.Thrash(20);
    const auto before = disk.writes;
    store.now = AgeMs{10'000};
    store.Settle();
    EXPECT_EQ(disk.writes, before) << "the next clear would drop what is stored before it";
    disk.clear_status = absl::OkStatus();
    store.now = AgeMs{100'000};
    store.Settle();
    store.Run(Count(0, 100));
    store.Thrash(20);
    EXPECT_EQ(store.Run(Count(0, 100)).sum(), 99);
    EXPECT_EQ(store.store->stats().bad_blocks, 0);
    EXPECT_EQ(store.store->stats().disk_used_blocks, std::ssize(disk.records));
    EXPECT_EQ(disk.clears, 1);
    while (store.store->StoreAll() > 0) store.Settle();
  }
  TieredStore after({.device = 8, .host = 4}, &disk);
  EXPECT_EQ(after.Run(Count(0, 100)).sum(), 99);
}

TEST(PurgeScenario, LoadsUnderWayWhileItIsFlushedAreNoDamage) {
  for (const bool load_first : {false, true}) {
    SimulatedDisk disk(100);
    TieredStore store({.device = 8, .host = 16}, &disk);
    store.Run(Count(0, 48));
    store.Thrash(20);
    auto blocks = store.store->Acquire({.tokens = Count(0, 48)});
    ASSERT_OK(blocks);
    ASSERT_EQ(blocks->load_state(), LoadState::kLoading);
    store.store->Flush();
    store.store->Poll();
    if (load_first) store.io.RunOne(IoLane::kRead);
    while (store.io.RunOne(IoLane::kWrite)) store.store->Poll();
    store.Settle();
    EXPECT_EQ(blocks->load_state(), load_first ? LoadState::kReady : LoadState::kFailed);
    *blocks = SequenceBlocks();
    store.Settle();
    EXPECT_EQ(store.store->stats().bad_blocks, 0);
    EXPECT_TRUE(store.store->stats().disk_on);
    EXPECT_EQ(store.Run(Count(0, 48)).sum(), 0);
    EXPECT_TRUE(store.events.empty());
  }
}

TEST(PurgeScenario, ADiskThatIsOffIsAskedOnceAndRemovesIfItCan) {
  SimulatedDisk disk(1000);
  TieredStore store({.device = 8, .host = 4}, &disk);
  store.Run(Count(0, 100), kA);
  store.Thrash(20);
  disk.write_status = absl::ResourceExhaustedError("no room for more");
  store.Thrash(20);
  ASSERT_FALSE(store.store->stats().disk_on);
  disk.write_status = absl::OkStatus();  // it takes no blocks, as far as the store knows, and removals
  store.store->PurgeTenant("a");
  store.Settle();
  EXPECT_FALSE(store.store->stats().disk_on);
  EXPECT_FALSE(store.store->RemovalsPending());
  EXPECT_EQ(RecordsOf(disk, "a"), 0);
}

// A tenant that is purged while nobody knows what the disk has of it.
TEST(PurgeScenario, APurgeBeforeTheDiskCouldBeReadHoldsForWhatItHas) {
  SimulatedDisk disk(1000);
  {
    TieredStore store({.device = 8, .host = 4}, &disk);
    store.Run(Count(0, 100), kA);
    store.Run(Count(0, 100), kB);
    while (store.store->StoreAll() > 0) store.Settle();
  }
  disk.recover_status = absl::UnavailableError("unreadable");
  disk.recoverable = 3;
  TieredStore store({.device = 8, .host = 4}, &disk);
  store.store->PurgeTenant("a");
  store.Settle();
  EXPECT_TRUE(store.store->RemovalsRefused());
  EXPECT_GT(RecordsOf(disk, "a"), 0);
  disk.recover_status = absl::OkStatus();
  store.now = AgeMs{10'000};
  store.Settle();
  store.Settle();
  EXPECT_FALSE(store.store->RemovalsPending());
  EXPECT_EQ(RecordsOf(disk, "a"), 0);
  EXPECT_EQ(store.Run(Count(0, 100), kA).sum(), 0);
  EXPECT_EQ(store.Run(Count(0, 100), kB).sum(), 99);
}

TEST(PurgeScenario, AFlushBeforeTheDiskCouldBeReadIsDoneAtOnce) {
  SimulatedDisk disk(1000);
  {
    TieredStore store({.device = 8, .host = 4}, &disk);
    store.Run(Count(0, 100), kA);
    while (store.store->StoreAll() > 0) store.Settle();
  }
  disk.recover_status = absl::UnavailableError("unreadable");
  TieredStore store({.device = 8, .host = 4}, &disk);
  store.store->PurgeTenant("b");
  store.store->Flush();
  store.Settle();
  EXPECT_FALSE(store.store->RemovalsPending());
  EXPECT_EQ(disk.records.size(), 0);
}

TEST(PurgeScenario, AFlushWithoutADiskIsDoneAtOnce) {
  TieredStore store({.device = 8, .host = 4}, nullptr);
  store.Run(Count(0, 100));
  store.store->Flush();
  EXPECT_FALSE(store.store->RemovalsPending());
}

TEST(PurgeScenario, ALoadUnderWayEndsForItsHolderAlone) {
  SimulatedDisk disk(100);
  TieredStore store({.device = 8, .host = 16}, &disk);
  store.Run(Count(0, 48), kA);
  store.Thrash(20);
  auto blocks = store.store->Acquire({.scope = kA, .tokens = Count(0, 48)});
  ASSERT_OK(blocks);
  ASSERT_EQ(blocks->load_state(), LoadState::kLoading);
  store.store->PurgeTenant("a");
  EXPECT_OK(store.store->Check());
  store.Settle();
  EXPECT_EQ(blocks->load_state(), LoadState::kReady);
  *blocks = SequenceBlocks();
  store.Settle();
  EXPECT_EQ(store.Run(Count(0, 48), kA).sum(), 0);
  EXPECT_EQ(RecordsOf(disk, "a"), 0);
}

}  // namespace
}  // namespace headstart::testing
