// What happens to blocks that leave the device, one small case each.

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/prefix_store/tiered_store.h"

namespace headstart::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TokensByTier Device(int64_t tokens) { return {.device = tokens}; }
TokensByTier Host(int64_t tokens) { return {.host = tokens}; }
TokensByTier Disk(int64_t tokens) { return {.disk = tokens}; }

TEST(Tiers, AnEvictedPrefixComesBackFromHostMemory) {
  TieredStore store({.device = 8, .host = 40}, nullptr);
  EXPECT_EQ(store.Run(Count(0, 48)), Device(0));
  EXPECT_EQ(store.Run(Count(0, 48)), Device(47));
  store.Thrash(8);
  EXPECT_EQ(store.store->Lookup(Scope::Public(), Count(0, 48)).by_tier, Host(47));
  EXPECT_EQ(store.Run(Count(0, 48)), Host(47));
  EXPECT_EQ(store.Run(Count(0, 48)), Device(47));
}

TEST(Tiers, ASmallHostPassesOnToTheDisk) {
  SimulatedDisk disk(100);
  TieredStore store({.device = 8, .host = 4}, &disk);
  store.Run(Count(0, 48));
  store.Thrash(20);
  EXPECT_EQ(store.Run(Count(0, 48)), Disk(47));
  EXPECT_EQ(store.store->stats().dropped_blocks, 0) << "nothing computed is lost";
}

// What makes room for it must not push out of host memory what is on its way up.
TEST(Tiers, AFullHostGivesBackAllOfAPrefix) {
  TieredStore store({.device = 8, .host = 8}, nullptr);
  store.Run(Count(0, 7 * 16));
  store.Run(Count(500, 8 * 16));
  ASSERT_EQ(store.store->stats().host_used_blocks, 7);
  store.Thrash(1);
  ASSERT_EQ(store.store->stats().host_used_blocks, 8);
  EXPECT_EQ(store.Run(Count(0, 7 * 16)).host, 7 * 16 - 1);
  EXPECT_EQ(store.store->stats().disk_failures, 0);
}

TEST(Tiers, OneHitFromThreeTiers) {
  SimulatedDisk disk(100);
  TieredStore store({.device = 8, .host = 64}, &disk);
  const Tokens prompt = Count(0, 96);
  store.Run(prompt);
  store.Thrash(5);  // three blocks of the prompt leave the device, the deepest first
  const TokensByTier hit = store.Run(prompt);
  EXPECT_EQ(hit.sum(), 95);
  EXPECT_EQ(hit.device, 48);
  EXPECT_EQ(hit.host, 47);
}

TEST(Tiers, APartOfABlockComesBackToo) {
  for (const bool with_disk : {false, true}) {
    SimulatedDisk disk(100);
    TieredStore store({.device = 8, .host = with_disk ? 4 : 40}, with_disk ? &disk : nullptr);
    store.Run(Count(0, 40));
    store.Thrash(20);
    EXPECT_EQ(store.Run(Count(0, 37) + Count(900, 5)).sum(), 37);
  }
}

// D1
TEST(Tiers, ARestartFindsWhatTheDiskHas) {
  SimulatedDisk disk(100);
  {
    TieredStore before({.device = 8, .host = 4}, &disk);
    before.Run(Count(0, 40));
    before.Run(Count(0, 24) + Count(500, 20), Scope::Tenant("acme"));
    before.Thrash(20);
  }
  TieredStore after({.device = 8, .host = 4}, &disk);
  EXPECT_EQ(after.Run(Count(0, 40)), Disk(39));
  EXPECT_EQ(after.Run(Count(0, 24) + Count(500, 20), Scope::Tenant("acme")).sum(), 43);
  EXPECT_EQ(after.Run(Count(0, 24) + Count(500, 20), Scope::Tenant("other")).sum(), 24);
}

TEST(Tiers, ACleanShutdownLosesNothing) {
  SimulatedDisk disk(100);
  {
    TieredStore before({.device = 8, .host = 4}, &disk);
    before.Run(Count(0, 100));
    EXPECT_EQ(disk.records.size(), 0) << "nothing had to leave yet";
    while (before.store->StoreAll() > 0) before.Settle();
    EXPECT_EQ(disk.records.size(), 7);
  }
  TieredStore after({.device = 8, .host = 4}, &disk);
  EXPECT_EQ(after.Run(Count(0, 100)), Disk(99));
}

TEST(Tiers, ABlockHitTwiceIsWrittenThrough) {
  SimulatedDisk disk(100);
  TieredStore store({.device = 16, .host = 8}, &disk);
  const Tokens shared = Count(0, 32);
  store.Run(shared + Count(100, 16));
  store.Run(shared + Count(200, 16));
  EXPECT_EQ(disk.records.size(), 0);
  store.Run(shared + Count(300, 16));
  EXPECT_EQ(disk.records.size(), 2) << "the shared blocks, and not the tails that nobody asked for again";
}

TEST(Tiers, APinnedPrefixSurvivesAKill) {
  SimulatedDisk disk(100);
  {
    TieredStore before({.device = 16, .host = 8}, &disk);
    before.Run(Count(0, 70));
    auto pin = before.store->Pin(Scope::Public(), Count(0, 70));
    ASSERT_OK(pin);
    before.Settle();
    EXPECT_EQ(disk.records.size(), 4) << "its whole blocks; the last one may still grow";
  }
  TieredStore after({.device = 16, .host = 8}, &disk);
  EXPECT_EQ(after.Run(Count(0, 70)), Disk(64));
}

TEST(Tiers, ACleanShutdownKeepsThePinnedTailToo) {
  SimulatedDisk disk(100);
  {
    TieredStore before({.device = 16, .host = 8}, &disk);
    before.Run(Count(0, 70));
    auto pin = before.store->Pin(Scope::Public(), Count(0, 70));
    ASSERT_OK(pin);
    EXPECT_GT(before.store->StoreAll(), 0);
    before.Settle();
    EXPECT_EQ(before.store->StoreAll(), 0) << "or the end of the service would wait for it";
  }
  TieredStore after({.device = 16, .host = 8}, &disk);
  EXPECT_EQ(after.Run(Count(0, 70)), Disk(69));
}

TEST(Tiers, ADiskThatTakesNoWritesAtTheStartIsReadAndOff) {
  SimulatedDisk disk(100);
  {
    TieredStore before({.device = 8, .host = 4}, &disk);
    before.Run(Count(0, 48));
    before.Thrash(20);
  }
  disk.write_status = absl::ResourceExhaustedError("full");
  TieredStore after({.device = 8, .host = 4}, &disk);
  EXPECT_FALSE(after.store->stats().disk_on);
  EXPECT_THAT(after.events, ElementsAre(HasSubstr("off: writes to it fail")));
  EXPECT_EQ(after.Run(Count(0, 48)), Disk(47));
  disk.write_status = absl::OkStatus();
  after.now = AgeMs{10'000};
  after.Settle();
  EXPECT_TRUE(after.store->stats().disk_on);
  EXPECT_EQ(after.events.size(), 2);
}

// The tree grows meanwhile: what the disk has finds its place in it.
TEST(Tiers, ADiskThatCannotBeReadAtTheStartIsRecoveredLater) {
  for (const int readable : {0, 2, 5}) {
    SimulatedDisk disk(100);
    const Scope acme = Scope::Tenant("acme");
    {
      TieredStore before({.device = 16, .host = 4}, &disk);
      before.Run(Count(0, 100));
      before.Run(Count(0, 40) + Count(500, 60), acme);
      while (before.store->StoreAll() > 0) before.Settle();
    }
    disk.recover_status = absl::UnavailableError("unreadable");
    disk.recoverable = readable;
    TieredStore after({.device = 16, .host = 4}, &disk);
    EXPECT_THAT(after.events, ElementsAre(HasSubstr("The disk tier is off")));
    EXPECT_FALSE(after.store->stats().disk_on);
    const auto records = disk.records.size();
    after.Run(Count(0, 70));  // the first blocks of what is on disk, and the beginning of another
    Running running = after.Start(Count(0, 40) + Count(500, 20), acme);
    disk.recover_status = absl::OkStatus();
    after.now = AgeMs{10'000};
    after.Settle();
    after.Settle();
    EXPECT_TRUE(after.store->stats().disk_on);
    EXPECT_EQ(after.events.size(), 2);
    EXPECT_LE(records - disk.records.size(), 2) << "but for the ends of what was computed meanwhile";
    EXPECT_EQ(after.store->stats().disk_used_blocks, std::ssize(disk.records));
    EXPECT_EQ(after.Run(Count(0, 100)).sum(), 99);
    running = {};
    EXPECT_EQ(after.Run(Count(0, 40) + Count(500, 60), acme).sum(), 99);
    EXPECT_EQ(after.store->stats().bad_blocks, 0);
  }
}

// T5, T6
TEST(Tiers, AnotherFingerprintFindsNothing) {
  SimulatedDisk disk(100);
  {
    TieredStore before({.device = 8, .host = 4, .fingerprint = {1, 1}}, &disk);
    before.Run(Count(0, 40));
    before.Thrash(20);
  }
  TieredStore after({.device = 8, .host = 4, .fingerprint = {1, 2}}, &disk);
  EXPECT_EQ(after.Run(Count(0, 40)), Device(0));
}

// D2: whatever is done to block k, reuse ends at k − 1.
class Damage : public ::testing::TestWithParam<std::string> {
 protected:
  static void Hurt(SimulatedDisk& disk, uint32_t depth) {
    auto victim = disk.records.end();
    auto other = disk.records.end();
    for (auto record = disk.records.begin(); record != disk.records.end(); ++record) {
      if (record->second.meta.depth == depth && record->second.meta.tokens.front() < TokenId{1000}) victim = record;
      if (record->second.meta.depth == depth + 1 && record->second.meta.tokens.front() < TokenId{1000}) other = record;
    }
    ASSERT_NE(victim, disk.records.end());
    if (GetParam() == "flip") victim->second.bytes[7] ^= std::byte{1};
    if (GetParam() == "truncate") victim->second.bytes.resize(5);
    if (GetParam() == "delete") disk.records.erase(victim);
    if (GetParam() == "swap") {
      std::swap(victim->second.bytes, other->second.bytes);
      std::swap(victim->second.checksum, other->second.checksum);
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, Damage, ::testing::Values("flip", "truncate", "delete", "swap"),
                         [](const auto& kind) { return kind.param; });

TEST_P(Damage, EndsTheReuseThereAndIsCounted) {
  SimulatedDisk disk(100);
  TieredStore store({.device = 8, .host = 4}, &disk);
  const Tokens prompt = Count(0, 100);
  store.Run(prompt);
  store.Thrash(20);
  ASSERT_NO_FATAL_FAILURE(Hurt(disk, 3));
  {
    const Running running = store.Start(prompt);
    EXPECT_EQ(running.hit(), 48);
    EXPECT_EQ(running.blocks.miss_reason(), MissReason::kTierError);
  }
  store.Settle();
  EXPECT_GE(store.store->stats().bad_blocks, 1);
  EXPECT_EQ(store.events.size(), 1) << "said once";
  store.Thrash(20);
  EXPECT_EQ(store.Run(prompt), Disk(99)) << "computed anew, and kept anew";
}

// D3
TEST(Tiers, TheDiskNeverHoldsMoreThanItMay) {
  SimulatedDisk disk(10);
  TieredStore store({.device = 8, .host = 4}, &disk);
  for (int i = 0; i < 60; ++i) {
    store.Run(Count(1000 * i, 70));
    EXPECT_LE(disk.records.size(), 10);
    EXPECT_LE(store.store->stats().disk_used_blocks, 10);
  }
  EXPECT_GT(disk.records.size(), 0);
}

// D4
TEST(Tiers, AFullDiskIsLeftAloneAndTriedAgain) {
  SimulatedDisk disk(1000);
  TieredStore store({.device = 8, .host = 4}, &disk);
  disk.write_status = absl::ResourceExhaustedError("no space left on device");
  store.Run(Count(0, 48));
  store.Thrash(20);
  EXPECT_FALSE(store.store->stats().disk_on);
  EXPECT_THAT(store.events, ElementsAre(HasSubstr("no space left on device")));
  EXPECT_EQ(store.Run(Count(0, 48)).sum(), 0) << "a shorter hit, and no error";

  disk.write_status = absl::OkStatus();
  EXPECT_EQ(disk.probes, 0) << "not before its time";
  store.now = AgeMs{5'000};
  store.Settle();
  EXPECT_TRUE(store.store->stats().disk_on);
  store.Run(Count(0, 48));
  store.Thrash(20);
  EXPECT_EQ(store.Run(Count(0, 48)), Disk(47));
}

TEST(Tiers, AnUnreadableDiskIsAShorterHit) {
  SimulatedDisk disk(1000);
  TieredStore store({.device = 8, .host = 4}, &disk);
  store.Run(Count(0, 48));
  store.Run(Count(2000, 48));
  store.Run(Count(4000, 48));
  store.Run(Count(5000, 16));
  store.Thrash(20);
  disk.read_status = absl::UnavailableError("input/output error");
  {
    const Running running = store.Start(Count(0, 48));
    EXPECT_EQ(running.hit(), 0);
    EXPECT_EQ(running.blocks.miss_reason(), MissReason::kTierError);
  }
  store.Settle();
  const int reads = disk.reads;
  EXPECT_EQ(store.Run(Count(2000, 48)).sum(), 0);
  EXPECT_EQ(disk.reads, reads) << "it is off, so it is not asked";
  EXPECT_EQ(store.Start(Count(4000, 37) + Count(900, 20)).blocks.miss_reason(), MissReason::kTierError)
      << "nor for whole blocks";
  EXPECT_EQ(store.Start(Count(5000, 12) + Count(900, 3)).blocks.miss_reason(), MissReason::kTierError)
      << "nor for a part of one";
  disk.read_status = absl::OkStatus();
  store.now = AgeMs{5'000};
  store.Settle();
  store.Thrash(20);
  EXPECT_EQ(store.Run(Count(0, 48)), Disk(47));
}

// D7
TEST(Tiers, ABlockEvictedTwiceIsWrittenOnce) {
  SimulatedDisk disk(100);
  TieredStore store({.device = 8, .host = 4}, &disk);
  for (int i = 0; i < 3; ++i) {
    store.Run(Count(0, 48));
    store.Thrash(10);
  }
  EXPECT_THAT(disk.writes, Each(Pair(::testing::_, 1)));
}

// D8
TEST(Tiers, ATierSlowerThanRecomputingIsNotUsed) {
  SimulatedDisk disk(100);
  TieredStore store({.device = 8, .host = 4}, &disk);
  store.io_step = absl::Seconds(1);
  store.store->Computed(1000, absl::Milliseconds(10));
  store.Run(Count(0, 48));
  store.Thrash(20);
  EXPECT_EQ(store.Run(Count(0, 48)), Disk(47)) << "its speed is not known yet";
  store.Thrash(20);
  {
    const auto other = store.store->Acquire({.tokens = Count(50'000, 7 * 16)});
    ASSERT_OK(other);
    for (int refused = 0; refused < 3; ++refused) {
      EXPECT_THAT(store.store->Acquire({.tokens = Count(0, 48)}),
                  StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("wait")));
    }
  }
  EXPECT_EQ(store.store->stats().recomputed_by_choice_tokens, 0) << "nothing was recomputed by those";
  {
    const Running running = store.Start(Count(0, 48));
    EXPECT_EQ(running.hit(), 0);
    EXPECT_EQ(running.blocks.miss_reason(), MissReason::kEvicted);
  }
  EXPECT_EQ(store.store->stats().recomputed_by_choice_tokens, 32);
}

TEST(Tiers, WhatWasRecomputedByChoiceIsTheSameBlock) {
  SimulatedDisk disk(100);
  TieredStore store({.device = 8, .host = 4}, &disk);
  store.io_step = absl::Seconds(1);
  store.store->Computed(1000, absl::Milliseconds(10));
  store.Run(Count(0, 48));
  store.Thrash(20);
  store.Run(Count(0, 48));  // measures the disk
  store.Thrash(20);
  const auto writes = disk.writes;
  store.Run(Count(0, 48));
  EXPECT_EQ(store.Run(Count(0, 48)), Device(47));
  store.Thrash(20);
  for (const auto& [key, count] : writes) EXPECT_EQ(disk.writes.at(key), count) << "its record was there already";
}

// C4
TEST(Tiers, ManyRequestsForOneSpilledPrefixLoadItOnce) {
  SimulatedDisk disk(100);
  TieredStore store({.device = 60, .host = 16}, &disk);
  store.Run(Count(0, 48));
  store.Thrash(80);
  const int reads = disk.reads;
  std::vector<SequenceBlocks> running;
  for (int i = 0; i < 50; ++i) {
    const Tokens prompt = Count(0, 48) + Count(100'000 + i, 1);
    auto blocks = store.store->Acquire({.tokens = prompt});
    ASSERT_OK(blocks);
    EXPECT_EQ(blocks->cached_by_tier(), Disk(48));
    EXPECT_EQ(blocks->load_state(), LoadState::kLoading);
    running.push_back(*std::move(blocks));
  }
  store.Settle();
  for (const SequenceBlocks& blocks : running) EXPECT_EQ(blocks.load_state(), LoadState::kReady);
  EXPECT_EQ(disk.reads - reads, 3);
}

// E7
TEST(Tiers, ARequestThatGoesWhileItLoadsLeavesNothingBehind) {
  SimulatedDisk disk(100);
  TieredStore store({.device = 8, .host = 16}, &disk);
  store.Run(Count(0, 48));
  store.Thrash(20);
  {
    auto blocks = store.store->Acquire({.tokens = Count(0, 48)});
    ASSERT_OK(blocks);
    EXPECT_EQ(blocks->load_state(), LoadState::kLoading);
  }
  EXPECT_OK(store.store->Check());
  store.Settle();
  const PrefixStoreStats stats = store.store->stats();
  EXPECT_EQ(stats.leased_blocks, 0);
  EXPECT_EQ(stats.free_blocks + stats.evictable_blocks, stats.pool_blocks);
  EXPECT_EQ(store.Run(Count(0, 48)), Device(47)) << "what was under way has come";
}

TEST(Tiers, LoadsThatFailForOneFailForAllWhoWait) {
  SimulatedDisk disk(100);
  TieredStore store({.device = 16, .host = 4}, &disk);
  store.Run(Count(0, 48));
  store.Thrash(40);
  auto first = store.store->Acquire({.tokens = Count(0, 48)});
  auto second = store.store->Acquire({.tokens = Count(0, 48)});
  ASSERT_OK(first);
  ASSERT_OK(second);
  disk.records.clear();
  store.Settle();
  EXPECT_EQ(first->load_state(), LoadState::kFailed);
  EXPECT_EQ(second->load_state(), LoadState::kFailed);
  *first = SequenceBlocks();
  *second = SequenceBlocks();
  EXPECT_OK(store.store->Check());
  EXPECT_EQ(store.Run(Count(0, 48)).sum(), 0);
}

// C5
TEST(Tiers, AFlushDuringALoadForgetsAllOfItAndHurtsNobody) {
  SimulatedDisk disk(100);
  TieredStore store({.device = 8, .host = 16}, &disk);
  store.Run(Count(0, 48));
  store.Thrash(20);
  auto blocks = store.store->Acquire({.tokens = Count(0, 48)});
  ASSERT_OK(blocks);
  store.store->Flush();
  EXPECT_OK(store.store->Check());
  store.Settle();
  EXPECT_EQ(blocks->load_state(), LoadState::kReady) << "it finishes with what it was promised";
  *blocks = SequenceBlocks();
  store.Settle();
  EXPECT_EQ(disk.records.size(), 0);
  EXPECT_EQ(store.store->stats().free_blocks, 8);
  EXPECT_EQ(store.Run(Count(0, 48)).sum(), 0);
}

TEST(Tiers, AFlushWhileBlocksAreWrittenTakesThemFromTheDiskAgain) {
  SimulatedDisk disk(100);
  TieredStore store({.device = 8, .host = 4}, &disk);
  store.Run(Count(0, 100));
  EXPECT_GT(store.store->StoreAll(), 0);
  store.store->Flush();
  store.Settle();
  EXPECT_EQ(disk.records.size(), 0);
  EXPECT_EQ(store.store->stats().disk_used_blocks, 0);
  EXPECT_EQ(store.store->stats().host_used_blocks, 0);
}

// A record that is on its way when its block is forgotten goes. One of the same tokens, stored anew meanwhile, stays.
TEST(Tiers, WhatIsStoredAnewOutlivesTheRemovalOfItsFirstRecord) {
  const Scope acme = Scope::Tenant("acme");
  for (const bool written_first : {false, true}) {
    SimulatedDisk disk(100);
    TieredStore store({.device = 16, .host = 16}, &disk);
    { const Running first = store.Start(Count(0, 100), acme); }
    EXPECT_GT(store.store->StoreAll(), 0);
    if (written_first) {
      while (store.io.RunOne(IoLane::kWrite)) {
      }
    }
    store.store->PurgeTenant("acme");
    { const Running again = store.Start(Count(0, 100), acme); }
    EXPECT_GT(store.store->StoreAll(), 0);
    store.Settle();
    EXPECT_EQ(disk.records.size(), 7);
    store.Thrash(60);
    EXPECT_EQ(store.Run(Count(0, 100), acme), Disk(99));
    EXPECT_EQ(store.store->stats().bad_blocks, 0);
  }
}

TEST(Tiers, WhatAFlushRemovedBeforeItWasReadIsNotCalledDamaged) {
  SimulatedDisk disk(100);
  TieredStore store({.device = 8, .host = 4}, &disk);
  store.Run(Count(0, 48));
  store.Thrash(20);
  auto blocks = store.store->Acquire({.tokens = Count(0, 48)});
  ASSERT_OK(blocks);
  ASSERT_EQ(blocks->cached_by_tier(), Disk(47));
  store.store->Flush();
  store.store->Poll();  // the clear begins, and is done before the load
  store.Settle();
  EXPECT_EQ(blocks->load_state(), LoadState::kFailed);
  EXPECT_EQ(store.store->stats().bad_blocks, 0);
  EXPECT_TRUE(store.events.empty());
}

// D6: evicted are the deepest first, so a kill may find children on disk whose parents were still in memory.
TEST(Tiers, AfterAKillNoOrphanIsAHit) {
  SimulatedDisk disk(1000);
  {
    TieredStore before({.device = 8, .host = 4}, &disk);
    before.Run(Count(0, 112));
    before.Run(Count(1000, 48));
    ASSERT_GT(disk.records.size(), 0);
    for (const auto& [key, record] : disk.records) ASSERT_GT(record.meta.depth, 0);
  }
  TieredStore after({.device = 8, .host = 4}, &disk);
  EXPECT_EQ(after.Run(Count(0, 112)).sum(), 0);
  EXPECT_EQ(disk.records.size(), 0) << "what nothing leads to is cleaned up";
}

// D10
TEST(Tiers, LongPromptsComeBackWhole) {
  SimulatedDisk disk(20'000);
  TieredStore store({.device = 3500, .host = 800}, &disk);
  for (int i = 0; i < 3; ++i) store.Run(Count(100'000 * i, 50'000));
  for (int i = 0; i < 3; ++i) EXPECT_GE(store.Run(Count(100'000 * i, 50'000)).sum(), 49'500);
  EXPECT_EQ(store.store->stats().dropped_blocks, 0);
}

// E8: the clock of the store is steady; that of the wall says only what has expired.
TEST(Tiers, TimeThatStandsStillChangesNothing) {
  SimulatedDisk disk(30);
  TieredStore store({.device = 8, .host = 4, .policy = EvictionPolicyKind::kSegmentedLru}, &disk);
  for (int i = 0; i < 40; ++i) store.Run(Count(16 * (i % 7), 64));
  EXPECT_OK(store.store->Check());
}

}  // namespace
}  // namespace headstart::testing
