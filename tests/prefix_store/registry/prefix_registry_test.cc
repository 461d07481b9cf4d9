#include "prefix_store/registry/prefix_registry.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "prefix_store/registry/prefix_codec.h"
#include "tests/prefix_store/store_harness.h"
#include "tests/prefix_store/tier/disk_fixture.h"
#include "tests/testing/faulty_file_system.h"
#include "tests/testing/manual_executor.h"

namespace headstart::testing {
namespace {

using ::testing::_;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Scope kA = Scope::Tenant("a");
const Scope kB = Scope::Tenant("b");
const absl::Time kStart = absl::FromUnixSeconds(1'700'000'000);

class MapRecords final : public NamedRecords {
 public:
  absl::Status Put(std::string_view name, std::string_view bytes) override {
    if (status.ok()) records[std::string(name)] = bytes;
    return status;
  }
  absl::Status Remove(std::string_view name) override {
    if (status.ok()) records.erase(std::string(name));
    return status;
  }
  absl::Status ForEach(absl::FunctionRef<void(std::string_view, std::string_view)> visit) const override {
    for (const auto& [name, bytes] : records) visit(name, bytes);
    return status;
  }

  std::map<std::string, std::string> records;
  absl::Status status;
};

class PrefixRegistryTest : public ::testing::Test {
 protected:
  PrefixRegistryTest() { Start(); }

  // As after a restart: the device is empty, the records are there.
  void Start() {
    registry.reset();
    harness =
        std::make_unique<StoreHarness>(PrefixStoreOptions{.device_blocks = 32, .policy = EvictionPolicyKind::kLru});
    registry = std::make_unique<PrefixRegistry>(
        harness->store, PrefixRegistryOptions{.records = &records,
                                              .io = &io,
                                              .vocabulary = vocabulary,
                                              .on_event = [this](const std::string& text) { events.push_back(text); }});
    EXPECT_OK(registry->Load(now));
  }

  void Settle() {
    io.RunAll();
    registry->Poll(now);
  }

  void Thrash() {
    for (int i = 0; i < 60; ++i) harness->Run(Count(1'000'000 + 100 * i, 16));
  }

  std::vector<std::string> IdsOf(const Scope& scope) const {
    std::vector<std::string> ids;
    for (const PrefixRegistry::Entry* entry : registry->List(scope)) ids.push_back(entry->prefix.id);
    return ids;
  }

  RegisteredPrefix Make(const std::string& id, const Scope& scope = Scope::Public(), int first = 0,
                        int tokens = 40) const {
    return {.id = id, .scope = scope, .tokens = Count(first, tokens), .display_name = "The " + id, .created = now};
  }

  absl::Time now = kStart;
  uint64_t vocabulary = 7;
  MapRecords records;
  ManualExecutor io;
  std::vector<std::string> events;
  std::unique_ptr<StoreHarness> harness;
  std::unique_ptr<PrefixRegistry> registry;  // after the store that it pins in
};

TEST_F(PrefixRegistryTest, APrefixIsPinnedFoundAndLetGo) {
  harness->Run(Count(0, 40), kA);
  ASSERT_OK_AND_ASSIGN(const PrefixRegistry::Entry* added, registry->Add(Make("x", kA), now));
  EXPECT_EQ(added->pin.pinned_tokens(), 40);
  EXPECT_EQ(registry->Find(kA, "x"), added);
  EXPECT_EQ(registry->Find(kB, "x"), nullptr);
  EXPECT_EQ(registry->Find(Scope::Public(), "x"), nullptr);
  Thrash();
  EXPECT_EQ(harness->Hit(Count(0, 41), kA), 40);
  EXPECT_OK(registry->Remove(kA, "x"));
  EXPECT_EQ(harness->store.stats().pinned_blocks, 0);
  EXPECT_THAT(registry->Remove(kA, "x"), StatusIs(absl::StatusCode::kNotFound, HasSubstr("\"x\"")));
  Settle();
  EXPECT_THAT(records.records, IsEmpty());
}

TEST_F(PrefixRegistryTest, WhatCannotBeIsRefusedAndLeavesNothing) {
  harness->Run(Count(0, 20 * 16));
  EXPECT_THAT(registry->Add(Make(""), now), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("id")));
  EXPECT_THAT(registry->Add(Make("x", kA, 0, 0), now),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("token")));
  RegisteredPrefix late = Make("x");
  late.expires = now;
  EXPECT_THAT(registry->Add(late, now), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("expired")));
  EXPECT_THAT(registry->Add(Make("large", Scope::Public(), 0, 20 * 16), now),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("at most 16")));
  EXPECT_EQ(registry->size(), 0);
  EXPECT_OK(registry->Add(Make("x"), now));
  EXPECT_THAT(registry->Add(Make("x"), now), StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("\"x\"")));
  EXPECT_OK(registry->Add(Make("x", kA), now)) << "ids are unique in their scope alone";
  Settle();
  EXPECT_EQ(records.records.size(), 2);
}

TEST_F(PrefixRegistryTest, AScopeSeesItsOwnAndThePublicOnes) {
  for (const char* id : {"q", "p"}) ASSERT_OK(registry->Add(Make(id), now));
  for (const char* id : {"z", "c"}) ASSERT_OK(registry->Add(Make(id, kA), now));
  ASSERT_OK(registry->Add(Make("other", kB), now));
  ASSERT_OK(registry->Add(Make("salted", Scope::Tenant("a", "s")), now));
  EXPECT_THAT(IdsOf(kA), ElementsAre("p", "q", "c", "z"));
  EXPECT_THAT(IdsOf(Scope::Public()), ElementsAre("p", "q"));
  EXPECT_THAT(IdsOf(Scope::Tenant("")), ElementsAre("p", "q"));
}

// E6
TEST_F(PrefixRegistryTest, E6APinOfFiveSecondsEndsAfterFiveSeconds) {
  harness->Run(Count(0, 40));
  RegisteredPrefix prefix = Make("x");
  prefix.expires = now + absl::Seconds(5);
  ASSERT_OK(registry->Add(prefix, now));
  now += absl::Seconds(5) - absl::Nanoseconds(1);
  Settle();
  Thrash();
  EXPECT_EQ(harness->Hit(Count(0, 41)), 40);
  now += absl::Nanoseconds(1);
  Settle();
  EXPECT_EQ(registry->size(), 0);
  Thrash();
  EXPECT_EQ(harness->Hit(Count(0, 41)), 0);
  Settle();
  EXPECT_THAT(records.records, IsEmpty());
}

TEST_F(PrefixRegistryTest, AnExpiryCanBeMovedBothWays) {
  ASSERT_OK(registry->Add(Make("x"), now));
  ASSERT_OK(registry->Add(Make("y"), now));
  EXPECT_OK(registry->Update(Scope::Public(), "x", now + absl::Seconds(5), now));
  EXPECT_OK(registry->Update(Scope::Public(), "y", now + absl::Seconds(3), now));
  EXPECT_OK(registry->Update(Scope::Public(), "y", absl::InfiniteFuture(), now));
  EXPECT_THAT(registry->Update(Scope::Public(), "y", now, now), StatusIs(absl::StatusCode::kInvalidArgument, _));
  EXPECT_THAT(registry->Update(kA, "y", absl::InfiniteFuture(), now), StatusIs(absl::StatusCode::kNotFound, _));
  now += absl::Seconds(6);
  Settle();
  EXPECT_THAT(IdsOf(Scope::Public()), ElementsAre("y"));
}

TEST_F(PrefixRegistryTest, AfterARestartTheyAreListedAndPinnedWhenTheirBlocksAreBack) {
  harness->Run(Count(0, 40), kA);
  ASSERT_OK(registry->Add(Make("x", kA), now));
  ASSERT_OK(registry->Add(Make("y", kA, 500), now));
  Settle();
  const RegisteredPrefix before = registry->Find(kA, "x")->prefix;
  Start();
  EXPECT_THAT(IdsOf(kA), ElementsAre("x", "y"));
  EXPECT_EQ(registry->Find(kA, "x")->prefix, before);
  EXPECT_EQ(registry->Find(kA, "x")->pin.pinned_tokens(), 0);
  registry->Poll(now);
  harness->Run(Count(0, 40), kA);
  registry->Poll(now);
  registry->Poll(now);  // one at a time
  EXPECT_EQ(registry->Find(kA, "x")->pin.pinned_tokens(), 40);
  EXPECT_EQ(registry->Find(kA, "y")->pin.pinned_tokens(), 0);
  harness->Run(Count(500, 40), kA);
  EXPECT_THAT(registry->Pin(kA, "y"), IsOk()) << "whoever knows that it is back need not wait";
  EXPECT_EQ(registry->Find(kA, "y")->pin.pinned_tokens(), 40);
  EXPECT_THAT(registry->Pin(kA, "z"), StatusIs(absl::StatusCode::kNotFound, _));
}

TEST_F(PrefixRegistryTest, APinGrowsWithWhatIsThere) {
  harness->Run(Count(0, 16));
  ASSERT_OK_AND_ASSIGN(const PrefixRegistry::Entry* entry, registry->Add(Make("x"), now));
  EXPECT_EQ(entry->pin.pinned_tokens(), 16);
  harness->Run(Count(0, 40));
  registry->Poll(now);
  EXPECT_EQ(entry->pin.pinned_tokens(), 40);
  EXPECT_EQ(harness->store.stats().pinned_blocks, 3);
}

TEST_F(PrefixRegistryTest, AFlushUnpinsUntilItIsComputedAnew) {
  harness->Run(Count(0, 40));
  ASSERT_OK_AND_ASSIGN(const PrefixRegistry::Entry* entry, registry->Add(Make("x"), now));
  harness->store.Flush();
  registry->Poll(now);
  EXPECT_EQ(entry->pin.pinned_tokens(), 0);
  EXPECT_EQ(harness->store.stats().free_blocks, 32) << "it holds no room for nothing";
  harness->Run(Count(0, 40));
  registry->Poll(now);
  EXPECT_EQ(entry->pin.pinned_tokens(), 40);
}

TEST_F(PrefixRegistryTest, ATenantGoesWithAllItRegistered) {
  for (const Scope& scope : {kA, Scope::Tenant("a", "salt"), kB, Scope::Tenant("aa"), Scope::Public()}) {
    ASSERT_OK(registry->Add(Make("x", scope), now));
  }
  EXPECT_EQ(registry->RemoveTenant("a"), 2);
  EXPECT_EQ(registry->RemoveTenant(""), 0);
  EXPECT_TRUE(registry->WritesPending());
  Settle();
  EXPECT_FALSE(registry->WritesPending());
  EXPECT_EQ(records.records.size(), 3);
  Start();
  EXPECT_EQ(registry->Find(kA, "x"), nullptr);
  EXPECT_NE(registry->Find(kB, "x"), nullptr);
  const int64_t left = registry->size();
  EXPECT_GT(left, 0);
  EXPECT_EQ(registry->RemoveAll(), left);
  EXPECT_EQ(registry->size(), 0);
}

TEST_F(PrefixRegistryTest, WhatHasExpiredMeanwhileIsNotLoaded) {
  RegisteredPrefix prefix = Make("x");
  prefix.expires = now + absl::Hours(12);
  ASSERT_OK(registry->Add(prefix, now));
  ASSERT_OK(registry->Add(Make("y"), now));
  Settle();
  now += absl::Hours(24);
  Start();
  EXPECT_THAT(IdsOf(Scope::Public()), ElementsAre("y"));
  Settle();
  EXPECT_EQ(records.records.size(), 1);
  EXPECT_THAT(events, IsEmpty());
}

TEST_F(PrefixRegistryTest, RecordsThatCannotBeUsedAreSkippedCountedAndSaid) {
  for (const char* id : {"good", "newer", "damaged"}) ASSERT_OK(registry->Add(Make(id), now));
  Settle();
  records.records[PrefixRecordName(Scope::Public(), "newer")][4] = 9;
  records.records[PrefixRecordName(Scope::Public(), "damaged")].pop_back();
  records.records["something else"] = "of somebody else";
  Start();
  EXPECT_THAT(IdsOf(Scope::Public()), ElementsAre("good"));
  EXPECT_EQ(registry->skipped().newer, 1);
  EXPECT_EQ(registry->skipped().damaged, 1);
  EXPECT_THAT(events, ElementsAre(HasSubstr("1 written by a newer program, 1 damaged")));
  vocabulary = 8;
  Start();
  EXPECT_EQ(registry->size(), 0);
  EXPECT_EQ(registry->skipped().other_vocabulary, 1);
  Settle();
  EXPECT_EQ(records.records.size(), 4) << "nothing of them is touched";
}

TEST_F(PrefixRegistryTest, AWriteThatFailsIsSaidAndTriedAgain) {
  records.status = absl::UnavailableError("no disk");
  ASSERT_OK(registry->Add(Make("x"), now));
  Settle();
  EXPECT_THAT(events, ElementsAre(HasSubstr("no disk")));
  Settle();
  EXPECT_EQ(events.size(), 1) << "not at once";
  EXPECT_TRUE(registry->WritesPending());
  records.status = absl::OkStatus();
  now += absl::Seconds(10);
  Settle();
  Settle();
  EXPECT_FALSE(registry->WritesPending());
  EXPECT_EQ(records.records.size(), 1);
}

TEST_F(PrefixRegistryTest, TheLastWordOfManyCounts) {
  ASSERT_OK(registry->Add(Make("x"), now));
  ASSERT_OK(registry->Update(Scope::Public(), "x", now + absl::Hours(1), now));
  ASSERT_OK(registry->Remove(Scope::Public(), "x"));
  io.RunOne(IoLane::kWrite);
  registry->Poll(now);
  EXPECT_TRUE(registry->WritesPending()) << "what is done is not what is wanted";
  Settle();
  EXPECT_FALSE(registry->WritesPending());
  EXPECT_THAT(records.records, IsEmpty());
}

TEST_F(PrefixRegistryTest, WorkThatOutlivesTheRegistryHurtsNobody) {
  ASSERT_OK(registry->Add(Make("x"), now));
  registry.reset();
  io.RunAll();
  EXPECT_EQ(records.records.size(), 1);
}

TEST(PrefixRegistryWithoutRecords, LivesInMemoryAlone) {
  PrefixStore store({.device_blocks = 8});
  PrefixRegistry registry(store, {});
  EXPECT_OK(registry.Load(kStart));
  EXPECT_OK(registry.Add({.id = "x", .tokens = Count(0, 4)}, kStart));
  registry.Poll(kStart);
  EXPECT_FALSE(registry.WritesPending());
}

using DiskNamedRecordsTest = DiskTest;

TEST_F(DiskNamedRecordsTest, SurviveAndWorkAgainAfterAFailure) {
  FaultyFileSystem files;
  env_ = files.env();
  Open();
  DiskNamedRecords records(*tier_);
  ASSERT_OK(records.Put("a", "1"));
  files.Fail({.operation = IoOperation::kWrite, .ending = "", .error = NoSpaceLeft()});
  EXPECT_FALSE(records.Put("b", "2").ok());
  files.Heal();
  EXPECT_OK(records.Put("c", "3"));
  EXPECT_OK(records.Remove("a"));
  Reopen();
  std::string all;
  ASSERT_OK(DiskNamedRecords(*tier_).ForEach([&](std::string_view name, std::string_view) { all += name; }));
  EXPECT_THAT(all, HasSubstr("c"));
  EXPECT_EQ(all.find('a'), std::string::npos);
  Close();
}

}  // namespace
}  // namespace headstart::testing
