// Time to live and priority: the case D5 and its kin.

#include <map>
#include <string>

#include "gtest/gtest.h"
#include "prefix_store/expiry.h"
#include "tests/prefix_store/store_harness.h"
#include "tests/prefix_store/tiered_store.h"

namespace headstart::testing {
namespace {

class ExpiryScenario : public ::testing::Test {
 protected:
  ExpiryScenario() : harness({.device_blocks = 64, .wall_clock = [this] { return wall; }}) {}

  int64_t Run(const Tokens& prompt, absl::Duration ttl) {
    Running running = harness.Begin({.tokens = prompt, .ttl = ttl});
    harness.Publish(running);
    return running.hit();
  }

  absl::Time wall = kFirstDay;
  StoreHarness harness;
};

TEST_F(ExpiryScenario, NoHitFromTheSecondOfExpiryOn) {
  Run(Count(0, 56), absl::Seconds(5));
  wall += absl::Seconds(5) - absl::Milliseconds(1);
  EXPECT_EQ(harness.Hit(Count(0, 56)), 55);
  wall += absl::Milliseconds(1);
  EXPECT_EQ(harness.Hit(Count(0, 56)), 0);
  EXPECT_EQ(harness.Lookup(Count(0, 56)).miss_reason, MissReason::kExpired);
  harness.store.Poll();
  EXPECT_EQ(harness.store.stats().free_blocks, 64);
  EXPECT_EQ(harness.store.stats().expired_blocks, 4);
  EXPECT_EQ(harness.Lookup(Count(0, 56)).miss_reason, MissReason::kExpired) << "remembered for a while";
  EXPECT_EQ(harness.Lookup(Count(0, 50)).miss_reason, MissReason::kExpired);
  EXPECT_EQ(Run(Count(0, 56), absl::Seconds(5)), 0);
  EXPECT_EQ(harness.Hit(Count(0, 56)), 55) << "computed anew, it counts anew";
}

TEST_F(ExpiryScenario, AFractionOfASecondIsKeptWhole) {
  wall += absl::Milliseconds(700);
  Run(Count(0, 32), absl::Milliseconds(500));
  wall += absl::Milliseconds(499);
  EXPECT_EQ(harness.Hit(Count(0, 32)), 31);
  wall += absl::Milliseconds(801);
  EXPECT_EQ(harness.Hit(Count(0, 32)), 0);
}

TEST_F(ExpiryScenario, TheTimeCountsFromTheSequencesEnd) {
  {
    Running running = harness.Begin({.tokens = Count(0, 56), .ttl = absl::Seconds(5)});
    harness.Publish(running);
    wall += absl::Hours(1);
    harness.store.Poll();
    EXPECT_EQ(harness.Hit(Count(0, 56)), 55) << "in use";
  }
  wall += absl::Seconds(4);
  EXPECT_EQ(Run(Count(0, 56), absl::Seconds(5)), 55) << "and a use begins it anew";
  wall += absl::Seconds(4);
  EXPECT_EQ(harness.Hit(Count(0, 56)), 55);
  wall += absl::Seconds(1);
  EXPECT_EQ(harness.Hit(Count(0, 56)), 0);
}

TEST_F(ExpiryScenario, TheLongestOfItsUsersCounts) {
  Run(Count(0, 48), absl::Hours(1));
  Run(Count(0, 48), absl::Seconds(1));
  wall += absl::Minutes(59);
  EXPECT_EQ(harness.Hit(Count(0, 48)), 47);
  harness.Run(Count(0, 48));  // for ever
  wall += absl::Hours(10'000);
  harness.store.Poll();
  EXPECT_EQ(harness.Hit(Count(0, 48)), 47);
  EXPECT_EQ(harness.store.NextExpiry(), absl::InfiniteFuture());
}

TEST_F(ExpiryScenario, ABranchExpiresAndTheTrunkStays) {
  harness.Run(Count(0, 32));
  EXPECT_EQ(Run(Count(0, 32) + Count(100, 40), absl::Seconds(5)), 32);
  EXPECT_EQ(Run(Count(0, 32) + Count(200, 40), absl::Seconds(50)), 32);
  EXPECT_EQ(harness.store.NextExpiry(), wall + absl::Seconds(5));
  wall += absl::Seconds(5);
  EXPECT_EQ(harness.Hit(Count(0, 32) + Count(100, 40)), 32);
  EXPECT_EQ(harness.Hit(Count(0, 32) + Count(200, 40)), 71);
  harness.store.Poll();
  EXPECT_OK(harness.store.Check());
  EXPECT_EQ(harness.store.stats().evictable_blocks, 5);
}

TEST_F(ExpiryScenario, AnotherUserDuringTheFirstSequenceDoesNotShortenIt) {
  Running owner = harness.Begin({.tokens = Count(0, 48), .ttl = absl::Hours(2)});
  harness.Publish(owner);
  Run(Count(0, 48), absl::Seconds(1));
  owner.blocks = SequenceBlocks();
  wall += absl::Hours(1);
  EXPECT_EQ(harness.Hit(Count(0, 48)), 47);
}

TEST_F(ExpiryScenario, ACopiedPartIsUsedToo) {
  Run(Count(0, 40), absl::Seconds(10));
  wall += absl::Seconds(9);
  EXPECT_EQ(Run(Count(0, 38) + Count(100, 5), absl::Seconds(10)), 38);
  wall += absl::Seconds(9);
  EXPECT_EQ(harness.Hit(Count(0, 40)), 39);
  EXPECT_OK(harness.store.Check());
}

TEST_F(ExpiryScenario, WhatIsNotPublishedDoesNotMakeItsPrefixEternal) {
  Run(Count(0, 32), absl::Seconds(10));
  { const Running running = harness.Begin({.tokens = Count(0, 80), .ttl = absl::Seconds(10)}); }
  wall += absl::Seconds(10);
  EXPECT_EQ(harness.Hit(Count(0, 32)), 0);
}

// E8 of the wall clock: what was promised is kept, whatever it does meanwhile.
TEST_F(ExpiryScenario, AClockSetBackShortensNothing) {
  Running running = harness.Begin({.tokens = Count(0, 40), .ttl = absl::Seconds(10)});
  running.blocks.Publish(Prefix(running.tokens, 35));
  wall -= absl::Hours(1);
  harness.Publish(running);
  running.blocks = SequenceBlocks();
  EXPECT_OK(harness.store.Check());
  wall += absl::Hours(1) + absl::Seconds(9);
  EXPECT_EQ(harness.Hit(Count(0, 40)), 39);
}

TEST_F(ExpiryScenario, MuchThatExpiresAtOnceIsReclaimedInParts) {
  StoreHarness large({.device_blocks = 1000, .wall_clock = [this] { return wall; }});
  const Tokens prompt = Count(0, 900 * 16);
  {
    ASSERT_OK_AND_ASSIGN(SequenceBlocks blocks, large.store.Acquire({.tokens = prompt, .ttl = absl::Seconds(1)}));
    blocks.Take(std::ssize(prompt));
    blocks.Publish(prompt);
  }
  wall += absl::Seconds(1);
  EXPECT_EQ(large.Hit(prompt), 0) << "at once";
  int polls = 0;
  for (; large.store.stats().free_blocks < 1000; ++polls) {
    ASSERT_LT(polls, 10);
    large.store.Poll();
    ASSERT_OK(large.store.Check());
  }
  EXPECT_GT(polls, 1);
}

TEST_F(ExpiryScenario, APinOutlastsTheTimeToLive) {
  Run(Count(0, 40), absl::Seconds(5));
  ASSERT_OK_AND_ASSIGN(PinnedPrefix pin, harness.store.Pin(Scope::Public(), Count(0, 40)));
  wall += absl::Hours(1);
  harness.store.Poll();
  EXPECT_EQ(harness.Hit(Count(0, 41)), 40);
  pin = PinnedPrefix();
  EXPECT_EQ(harness.Hit(Count(0, 41)), 0);
  harness.store.Poll();
  EXPECT_EQ(harness.store.stats().free_blocks, 64);
}

TEST(Expiry, SecondsAreRoundedUpAndEndIn2106) {
  const absl::Time start = absl::FromUnixSeconds(100);
  EXPECT_EQ(ExpiryAfter(start, absl::ZeroDuration()), 100);
  EXPECT_EQ(ExpiryAfter(start, -absl::Hours(1)), 100);
  EXPECT_EQ(ExpiryAfter(start, absl::Nanoseconds(1)), 101);
  EXPECT_EQ(ExpiryAfter(start, absl::Hours(24 * 365 * 300)), kNever);
  EXPECT_EQ(ExpiryAfter(start, absl::InfiniteDuration()), kNever);
  EXPECT_EQ(ExpiryAfter(absl::UnixEpoch() - absl::Hours(1), absl::ZeroDuration()), 1);
}

AcquireRequest WithTtl(const Tokens& tokens, absl::Duration ttl) { return {.tokens = tokens, .ttl = ttl}; }

void RunFor(TieredStore& store, const Tokens& prompt, absl::Duration ttl) {
  Running running = store.Begin(WithTtl(prompt, ttl));
  running.blocks.Publish(prompt);
}

TEST(ExpiryOnDisk, D5ADayLaterExpiredPrefixesAreGone) {
  SimulatedDisk disk(100);
  {
    TieredStore before({.device = 16, .host = 8}, &disk);
    RunFor(before, Count(0, 48), absl::Hours(12));
    RunFor(before, Count(100, 48), absl::Hours(36));
    RunFor(before, Count(200, 48), absl::InfiniteDuration());
    while (before.store->StoreAll() > 0) before.Settle();
    ASSERT_EQ(disk.records.size(), 9);
  }
  TieredStore after({.device = 16, .host = 8}, &disk, kFirstDay + absl::Hours(24));
  EXPECT_EQ(after.store->Lookup(Scope::Public(), Count(0, 48)).matched_tokens, 0);
  EXPECT_EQ(after.store->Lookup(Scope::Public(), Count(100, 48)).matched_tokens, 47);
  EXPECT_EQ(after.store->Lookup(Scope::Public(), Count(200, 48)).matched_tokens, 47);
  EXPECT_EQ(disk.records.size(), 6) << "and so are their records";
  after.wall += absl::Hours(12);
  after.Settle();
  EXPECT_EQ(after.store->Lookup(Scope::Public(), Count(100, 48)).matched_tokens, 0);
  EXPECT_EQ(disk.records.size(), 3);
}

TEST(ExpiryOnDisk, ExpiredBlocksLeaveAllTiers) {
  SimulatedDisk disk(100);
  TieredStore store({.device = 8, .host = 4}, &disk);
  RunFor(store, Count(0, 100), absl::Seconds(30));
  store.Thrash(20);
  RunFor(store, Count(0, 32), absl::Seconds(30));
  ASSERT_GT(disk.records.size(), 0);
  store.store->StoreAll();  // some are being written when they expire
  store.wall += absl::Minutes(1);
  store.Settle();
  EXPECT_EQ(store.store->stats().expired_blocks, 7);
  for (const auto& [key, record] : disk.records) EXPECT_EQ(record.meta.expires, absl::InfiniteFuture());
  EXPECT_EQ(store.Run(Count(0, 100)).sum(), 0);
}

TEST(ExpiryOnDisk, ARecordWrittenLaterKeepsThoseBeforeIt) {
  SimulatedDisk disk(100);
  {
    TieredStore before({.device = 16, .host = 8}, &disk);
    RunFor(before, Count(0, 32), absl::Hours(1));
    while (before.store->StoreAll() > 0) before.Settle();
    RunFor(before, Count(0, 48), absl::Hours(10));
    while (before.store->StoreAll() > 0) before.Settle();
  }
  TieredStore after({.device = 16, .host = 8}, &disk);
  after.wall += absl::Hours(5);
  after.Settle();
  EXPECT_EQ(after.store->Lookup(Scope::Public(), Count(0, 48)).matched_tokens, 47);
}

TEST(Priority, TheHighestOfItsUsersIsPersisted) {
  SimulatedDisk disk(100);
  TieredStore store({.device = 16, .host = 8}, &disk);
  const auto run = [&](const Tokens& prompt, int8_t priority) {
    Running running = store.Begin({.tokens = prompt, .priority = priority});
    running.blocks.Publish(prompt);
  };
  run(Count(0, 16), -1);
  run(Count(100, 16), -1);
  run(Count(100, 32), 1);
  run(Count(100, 32), 0);
  while (store.store->StoreAll() > 0) store.Settle();
  std::map<int, int8_t> priorities;
  for (const auto& [key, record] : disk.records) priorities[ToIndex(record.meta.tokens[0])] = record.meta.priority;
  EXPECT_EQ(priorities, (std::map<int, int8_t>{{0, -1}, {100, 1}, {116, 1}}));
}

}  // namespace
}  // namespace headstart::testing
