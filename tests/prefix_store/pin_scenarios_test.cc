// Pins: the case E6, their share of the device, and what ends them.

#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/prefix_store/store_harness.h"
#include "tests/prefix_store/tiered_store.h"

namespace headstart::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

void Thrash(StoreHarness& harness, int prompts) {
  for (int i = 0; i < prompts; ++i) harness.Run(Count(1'000'000 + 100 * i, 16));
}

TEST(PinScenario, E6HitUntilThePinEndsAndEvictableAfter) {
  StoreHarness harness({.device_blocks = 16, .policy = EvictionPolicyKind::kLru});
  const Tokens prefix = Count(0, 72);
  harness.Run(prefix);
  {
    ASSERT_OK_AND_ASSIGN(const PinnedPrefix pin, harness.store.Pin(Scope::Public(), prefix));
    EXPECT_EQ(pin.pinned_tokens(), 72);
    EXPECT_EQ(harness.store.stats().pinned_blocks, 5);
    Thrash(harness, 100);
    EXPECT_EQ(harness.Hit(prefix + Count(500, 1)), 72) << "the incomplete last block is pinned as well";
  }
  EXPECT_OK(harness.store.Check());
  EXPECT_EQ(harness.store.stats().pinned_blocks, 0);
  Thrash(harness, 100);
  EXPECT_EQ(harness.Hit(prefix), 0);
}

TEST(PinScenario, E6PinsNeverTakeMoreThanTheirShare) {
  StoreHarness harness({.device_blocks = 16, .pinned_percent = 25});
  harness.Run(Count(0, 48));
  harness.Run(Count(100, 32));
  ASSERT_OK_AND_ASSIGN(const PinnedPrefix first, harness.store.Pin(Scope::Public(), Count(0, 48)));
  EXPECT_THAT(harness.store.Pin(Scope::Public(), Count(100, 32)),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("2 more pinned blocks"), HasSubstr("3 of at most 4"))));
  EXPECT_OK(harness.store.Pin(Scope::Public(), Count(100, 16)));
  EXPECT_EQ(harness.store.stats().pinned_blocks, 3) << "the refused one holds nothing";
  EXPECT_OK(harness.store.Check());
}

TEST(PinScenario, WhatAPinWouldSayIsKnownBeforeItIsComputed) {
  StoreHarness harness({.device_blocks = 16, .pinned_percent = 25});
  const Tokens prefix = Count(0, 56);  // three blocks and a half
  EXPECT_OK(harness.store.CheckPin(Scope::Public(), prefix));
  EXPECT_THAT(harness.store.CheckPin(Scope::Public(), Count(0, 65)),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("5 more pinned blocks")));
  harness.Run(prefix);
  EXPECT_OK(harness.store.CheckPin(Scope::Public(), prefix)) << "cached, and not pinned yet";
  ASSERT_OK_AND_ASSIGN(const PinnedPrefix pin, harness.store.Pin(Scope::Public(), prefix));
  EXPECT_OK(harness.store.CheckPin(Scope::Public(), prefix)) << "another one holds all of it";
  EXPECT_OK(harness.store.CheckPin(Scope::Public(), Count(0, 50)));
  EXPECT_OK(harness.store.CheckPin(Scope::Tenant("t"), Count(0, 48))) << "they find the public blocks";
  EXPECT_OK(harness.store.CheckPin(Scope::Public(), Count(0, 48), /*promised_blocks=*/0));
  EXPECT_THAT(harness.store.CheckPin(Scope::Public(), Count(700, 16), /*promised_blocks=*/1),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("with 1 promised")));
  EXPECT_THAT(harness.store.CheckPin(Scope::Public(), Count(0, 48) + Count(500, 17)),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("2 more pinned blocks")));
}

TEST(PinScenario, T2APublicPrefixThatIsPinnedIsComputedOnceForAllHoweverSmallTheDevice) {
  StoreHarness harness({.device_blocks = 64});
  const Tokens system = Count(0, 512);
  harness.Run(system);
  ASSERT_OK_AND_ASSIGN(const PinnedPrefix pin, harness.store.Pin(Scope::Public(), system));
  EXPECT_EQ(pin.pinned_tokens(), 512) << "half of the device, no more";
  for (int i = 0; i < 256; ++i) {
    ASSERT_EQ(harness.Run(system + Count(1000 + i, 300), Scope::Tenant("tenant " + std::to_string(i))), 512);
  }
  EXPECT_EQ(harness.store.stats().written_tokens, 512 + 256 * 300);
}

TEST(PinScenario, NoShareNoPin) {
  StoreHarness harness({.device_blocks = 16, .pinned_percent = 0});
  harness.Run(Count(0, 16));
  EXPECT_THAT(harness.store.Pin(Scope::Public(), Count(0, 16)),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("at most 0 (0% of the device's 16)")));
  for (const int percent : {-1, 101}) {
    EXPECT_THAT(PrefixStore::Validate({.device_blocks = 1, .pinned_percent = percent}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("pinned_percent")));
  }
}

TEST(PinScenario, SharedBlocksCountOnceAndStayUntilTheLastPinGoes) {
  StoreHarness harness({.device_blocks = 16, .policy = EvictionPolicyKind::kLru});
  harness.Run(Count(0, 32) + Count(100, 16));
  harness.Run(Count(0, 32) + Count(200, 16));
  ASSERT_OK_AND_ASSIGN(PinnedPrefix a, harness.store.Pin(Scope::Public(), Count(0, 32) + Count(100, 16)));
  ASSERT_OK_AND_ASSIGN(PinnedPrefix b, harness.store.Pin(Scope::Public(), Count(0, 32) + Count(200, 16)));
  EXPECT_EQ(harness.store.stats().pinned_blocks, 4);
  a = PinnedPrefix();
  EXPECT_EQ(harness.store.stats().pinned_blocks, 3);
  Thrash(harness, 100);
  EXPECT_EQ(harness.Hit(Count(0, 32) + Count(200, 17)), 48);
  EXPECT_EQ(harness.Hit(Count(0, 32) + Count(100, 17)), 32);
  b = std::move(a);
  EXPECT_EQ(harness.store.stats().pinned_blocks, 0);
  EXPECT_EQ(b.pinned_tokens(), 0);
  EXPECT_OK(harness.store.Check());
}

TEST(PinScenario, WhatIsNotThereCannotBePinned) {
  StoreHarness harness({.device_blocks = 16, .policy = EvictionPolicyKind::kLru});
  EXPECT_THAT(harness.store.Pin(Scope::Public(), Count(0, 48)),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("48 tokens")));
  EXPECT_THAT(harness.store.Pin(Scope::Public(), {}), StatusIs(absl::StatusCode::kNotFound, ::testing::_));
  harness.Run(Count(0, 48), Scope::Tenant("a"));
  EXPECT_THAT(harness.store.Pin(Scope::Tenant("b"), Count(0, 48)), StatusIs(absl::StatusCode::kNotFound, ::testing::_));
  ASSERT_OK_AND_ASSIGN(const PinnedPrefix part, harness.store.Pin(Scope::Tenant("a"), Count(0, 40) + Count(900, 40)));
  EXPECT_EQ(part.pinned_tokens(), 32) << "a block that goes on differently is not the prefix's";
}

TEST(PinScenario, RoomPromisedToSequencesIsNotPinned) {
  StoreHarness harness({.device_blocks = 8});
  harness.Run(Count(0, 48));
  auto running = harness.store.Acquire({.tokens = Count(100, 7 * 16)});
  ASSERT_OK(running);
  EXPECT_THAT(harness.store.Pin(Scope::Public(), Count(0, 48)),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("3 blocks pinned and 1 of 8")));
  running->Take(7 * 16);
  EXPECT_OK(harness.store.Check());
}

TEST(PinScenario, APinnedTailFollowsTheBlockThatTakesItsPlace) {
  StoreHarness harness({.device_blocks = 16, .policy = EvictionPolicyKind::kLru});
  harness.Run(Count(0, 40));
  ASSERT_OK_AND_ASSIGN(const PinnedPrefix pin, harness.store.Pin(Scope::Public(), Count(0, 40)));
  harness.Run(Count(0, 60));  // copies the tail and publishes a longer one, which makes it redundant
  EXPECT_EQ(pin.pinned_tokens(), 40);
  EXPECT_EQ(harness.store.stats().pinned_blocks, 3);
  Thrash(harness, 100);
  EXPECT_EQ(harness.Hit(Count(0, 40) + Count(700, 1)), 40);
}

TEST(PinScenario, ATailPinnedWhileItsWriterFillsItStaysPinned) {
  StoreHarness harness({.device_blocks = 16, .policy = EvictionPolicyKind::kLru});
  {
    Running running = harness.Start(Count(0, 40));
    ASSERT_OK_AND_ASSIGN(const PinnedPrefix pin, harness.store.Pin(Scope::Public(), Count(0, 40)));
    harness.Generate(running, Count(500, 20));
    EXPECT_EQ(pin.pinned_tokens(), 40);
  }
  EXPECT_OK(harness.store.Check());
}

TEST(PinScenario, TwoWritersOfOnePinnedTail) {
  StoreHarness harness({.device_blocks = 32});
  Running a = harness.Begin({.tokens = Count(0, 48)});
  Running b = harness.Begin({.tokens = Count(0, 48)});
  a.blocks.Publish(Prefix(a.tokens, 40));
  ASSERT_OK_AND_ASSIGN(const PinnedPrefix pin, harness.store.Pin(Scope::Public(), Count(0, 40)));
  harness.Publish(b);  // takes the pinned tail's place
  harness.Publish(a);
  EXPECT_EQ(pin.pinned_tokens(), 40);
  EXPECT_OK(harness.store.Check());
}

TEST(PinScenario, AFlushTakesPinnedBlocksOutAndTheirHolderKeepsTheRoom) {
  StoreHarness harness({.device_blocks = 8});
  harness.Run(Count(0, 48));
  ASSERT_OK_AND_ASSIGN(PinnedPrefix pin, harness.store.Pin(Scope::Public(), Count(0, 48)));
  EXPECT_EQ(harness.store.Flush(), 0);
  EXPECT_OK(harness.store.Check());
  EXPECT_EQ(harness.Hit(Count(0, 48)), 0);
  EXPECT_EQ(pin.pinned_tokens(), 0);
  EXPECT_EQ(harness.store.stats().free_blocks, 5);
  pin = PinnedPrefix();
  EXPECT_EQ(harness.store.stats().free_blocks, 8);
}

TEST(PinScenario, OnlyWhatIsOnTheDeviceIsPinned) {
  SimulatedDisk disk(100);
  TieredStore store({.device = 8, .host = 64}, &disk);
  const Tokens prompt = Count(0, 64);
  store.Run(prompt);
  store.Thrash(6);  // the two deepest have gone down
  ASSERT_OK_AND_ASSIGN(PinnedPrefix pin, store.store->Pin(Scope::Public(), prompt));
  EXPECT_EQ(pin.pinned_tokens(), 32);
  store.Thrash(20);
  EXPECT_EQ(store.store->Lookup(Scope::Public(), prompt).by_tier.device, 32);
  pin = PinnedPrefix();
  store.Thrash(20);
  EXPECT_THAT(store.store->Pin(Scope::Public(), prompt), StatusIs(absl::StatusCode::kNotFound, ::testing::_));
}

}  // namespace
}  // namespace headstart::testing
