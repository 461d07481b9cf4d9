// The ledger: entries, repetitions, reading, opening and retention.

#include "gateway/ledger/ledger.h"

#include <fstream>
#include <set>

#include "fmt/format.h"
#include "gateway/accounting/charge.h"
#include "gateway/ledger/internal/ledger_keys.h"
#include "gateway/ledger/usage_totals.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/gateway/ledger_fixture.h"

namespace headstart::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(LedgerTest, EntryIsFoundByIdAndByTime) {
  Open();
  const PostResult posted = Post({});
  EXPECT_TRUE(posted.recorded);
  EXPECT_FALSE(posted.stored.repeated);
  EXPECT_EQ(Text(posted.stored.entry), Text(MakeEntry({})));
  EXPECT_EQ(posted.stored.added.requests(), 1);
  ASSERT_OK_AND_ASSIGN(const auto found, ledger_->Find("acme", "r1"));
  EXPECT_EQ(Text(found), Text(MakeEntry({})));
  EXPECT_THAT(ledger_->Find("acme", "r2"), StatusIs(absl::StatusCode::kNotFound, HasSubstr("")));
  ASSERT_OK_AND_ASSIGN(auto before, ledger_->ReadRecords(absl::InfinitePast(), Ten()));
  EXPECT_THAT(*before.Next(), IsEmpty());
  ASSERT_OK_AND_ASSIGN(auto at, ledger_->ReadRecords(Ten(), Ten() + absl::Nanoseconds(1)));
  EXPECT_THAT(*at.Next(), SizeIs(1));
  ExpectSumsMatch();
}

// T3: names that concatenate alike.
TEST_F(LedgerTest, TenantsWhoseNamesRunTogetherStayApart) {
  Open();
  Post({.tenant = "ab", .id = "c"});
  EXPECT_FALSE(Post({.tenant = "a", .id = "bc", .digest = 2}).stored.repeated);
  EXPECT_THAT(Ids(), ElementsAre("a/bc", "ab/c"));
}

// A3: the same request_id retried.
TEST_F(LedgerTest, RepeatedRequestIsBilledOnceAtItsLongestAnswer) {
  Open();
  const int64_t first = Post({.completion_tokens = 10}).stored.entry.charge().cost_nanos();
  v1::UsageEntry cold = MakeEntry({.end = Ten() + absl::Hours(3), .completion_tokens = 30});
  *cold.mutable_usage()->mutable_cached_by_tier() = {};
  cold.mutable_usage()->set_cached_tokens(0);
  cold.mutable_usage()->set_computed_prompt_tokens(100);
  const PostResult longer = headstart::testing::Post(*ledger_, cold);
  EXPECT_TRUE(longer.stored.repeated);
  const v1::UsageEntry& entry = longer.stored.entry;
  EXPECT_EQ(entry.attempts(), 2);
  EXPECT_EQ(entry.usage().prompt_tokens(), 100);
  EXPECT_EQ(entry.usage().cached_tokens(), 50);
  EXPECT_EQ(entry.usage().completion_tokens(), 30);
  EXPECT_EQ(entry.charge().cost_nanos(), first + 20 * 15'000);
  EXPECT_EQ(entry.charge().price_version(), "v1");
  EXPECT_EQ(longer.stored.added.requests(), 0);
  EXPECT_EQ(longer.stored.added.usage().completion_tokens(), 20);
  EXPECT_EQ(longer.stored.added.charge().cost_nanos(), 20 * 15'000);
  const PostResult shorter = Post({.completion_tokens = 5});
  EXPECT_EQ(shorter.stored.entry.usage().completion_tokens(), 30);
  EXPECT_EQ(shorter.stored.added.charge().cost_nanos(), 0);
  EXPECT_EQ(shorter.stored.entry.attempts(), 3);
  EXPECT_THAT(Ids(), ElementsAre("acme/r1"));
  ExpectSumsMatch();
}

v1::Usage Split(int64_t device, int64_t host, int64_t disk, int64_t computed) {
  v1::Usage usage;
  usage.mutable_cached_by_tier()->set_device(device);
  usage.mutable_cached_by_tier()->set_host(host);
  usage.mutable_cached_by_tier()->set_disk(disk);
  usage.mutable_cached_by_tier()->set_remote(0);
  usage.set_cached_tokens(device + host + disk);
  usage.set_computed_prompt_tokens(computed);
  usage.set_prompt_tokens(device + host + disk + computed);
  return usage;
}

// Else whoever has an attempt cut off at once would get the prompt for nothing.
TEST_F(LedgerTest, PromptThatAnAttemptWasCutShortOfIsBilledAsTheNextOneFindsIt) {
  Open();
  const auto post = [&](const v1::Usage& usage, int64_t written) {
    v1::UsageEntry attempt = MakeEntry({});
    *attempt.mutable_usage() = usage;
    attempt.mutable_usage()->set_completion_tokens(0);
    attempt.mutable_usage()->set_cache_write_tokens(written);
    *attempt.mutable_charge() = ChargeOf(attempt.usage(), 0, attempt.prices());
    return headstart::testing::Post(*ledger_, attempt).stored.entry;
  };
  int64_t cost = post(Split(0, 0, 0, 0), 0).charge().cost_nanos();
  EXPECT_EQ(cost, 0);
  const auto expect = [&](const v1::UsageEntry& entry, const v1::Usage& split, int64_t written) {
    v1::Usage expected = split;
    expected.set_completion_tokens(0);
    expected.set_cache_write_tokens(written);
    EXPECT_EQ(Text(entry.usage()), Text(expected));
    EXPECT_EQ(entry.charge().cost_nanos(), ChargeOf(expected, 0, entry.prices()).cost_nanos());
    EXPECT_GE(entry.charge().cost_nanos(), cost);
    cost = entry.charge().cost_nanos();
  };
  expect(post(Split(10, 0, 0, 30), 32), Split(10, 0, 0, 30), 32);
  expect(post(Split(30, 30, 15, 25), 16), Split(10, 20, 15, 55), 32);
  expect(post(Split(99, 0, 0, 1), 0), Split(10, 20, 15, 55), 32);
  EXPECT_THAT(Ids(), ElementsAre("acme/r1"));
  ExpectSumsMatch();
}

TEST_F(LedgerTest, IdUsedForAnotherRequestIsBilledUnderANumber) {
  Open();
  Post({.digest = 1});
  EXPECT_EQ(Post({.digest = 2}).stored.entry.request_id(), "r1~2");
  EXPECT_EQ(Post({.digest = 3}).stored.entry.request_id(), "r1~3");
  const PostResult again = Post({.completion_tokens = 12, .digest = 2});
  EXPECT_EQ(again.stored.entry.request_id(), "r1~2");
  EXPECT_TRUE(again.stored.repeated);
  EXPECT_THAT(Ids(), ElementsAre("acme/r1", "acme/r1~2", "acme/r1~3"));
  ExpectSumsMatch();
}

// The same within one group, which the disk has not seen yet.
TEST_F(LedgerTest, RepetitionsWithinAGroupAreSeen) {
  Open();
  std::vector<PostResult> results(4);
  const std::vector<EntrySpec> specs = {
      {.completion_tokens = 10}, {.completion_tokens = 20}, {.completion_tokens = 5, .digest = 2}, {.digest = 2}};
  Mutex mutex;
  {
    MutexLock hold(mutex);  // the first callback waits, so that the rest become one group
    ledger_->Post(MakeEntry({.id = "first"}), [&mutex](const PostResult&) { MutexLock lock(mutex); });
    for (size_t i = 0; i < specs.size(); ++i) {
      ledger_->Post(MakeEntry(specs[i]), [&results, i](const PostResult& result) { results[i] = result; });
    }
  }
  ledger_->Flush();
  EXPECT_EQ(results[1].stored.entry.attempts(), 2);
  EXPECT_EQ(results[1].stored.added.usage().completion_tokens(), 10);
  EXPECT_EQ(results[2].stored.entry.request_id(), "r1~2");
  EXPECT_EQ(results[3].stored.entry.request_id(), "r1~2");
  EXPECT_TRUE(results[3].stored.repeated);
  ExpectSumsMatch();
}

TEST_F(LedgerTest, HoursAreSummedByWhoAndWhat) {
  Open();
  Post({.id = "1", .labels = {{"team", "a"}, {"app", "x"}}});
  Post({.id = "2", .labels = {{"app", "x"}, {"team", "a"}}});  // in another order: the same group
  Post({.id = "3", .labels = {{"team", "b"}}});
  Post({.id = "4", .end = Ten() + absl::Minutes(59), .labels = {{"team", "b"}}});
  Post({.id = "5", .end = Ten() + absl::Minutes(60), .labels = {{"team", "b"}}});
  std::vector<std::string> seen;
  ASSERT_OK(ledger_->ReadHours(absl::InfinitePast(), absl::InfiniteFuture(),
                               [&seen](const UsageHour& hour, const v1::UsageTotals& totals) {
                                 seen.push_back(fmt::format("{} {} {}", absl::ToUnixSeconds(hour.start) / 3600 % 24,
                                                            hour.labels.at("team"), totals.requests()));
                                 return true;
                               }));
  EXPECT_THAT(seen, ElementsAre("10 b 2", "10 a 2", "11 b 1"));
  ExpectSumsMatch();
}

TEST_F(LedgerTest, EverythingIsThereAfterReopening) {
  Open();
  for (int i = 0; i < 100; ++i) Post({.id = fmt::format("r{}", i)});
  const auto records = Ids();
  const std::string hours = Text(AllHours(*ledger_));
  Open();
  EXPECT_EQ(Ids(), records);
  EXPECT_EQ(Text(AllHours(*ledger_)), hours);
  EXPECT_TRUE(Post({.id = "r7"}).stored.repeated);
}

TEST_F(LedgerTest, WithoutADirectoryItLivesInMemory) {
  Open({});
  Post({});
  EXPECT_THAT(Ids(), ElementsAre("acme/r1"));
  ExpectSumsMatch();
  Open({});
  EXPECT_THAT(Ids(), IsEmpty());
}

TEST_F(LedgerTest, DirectoryBelongsToOne) {
  Open();
  EXPECT_THAT(Ledger::Open(Options()), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("is in use")));
}

TEST_F(LedgerTest, NewerFormatIsRefusedAndUntouched) {
  Open();
  Post({});
  ledger_.reset();
  const std::string marker = folder_.Path("ledger/HEADSTART_LEDGER");
  std::ofstream(marker) << "Headstart ledger, format 2\n";
  EXPECT_THAT(Ledger::Open(Options()), StatusIs(absl::StatusCode::kFailedPrecondition,
                                                AllOf(HasSubstr("format 2"), HasSubstr("reads up to 1"))));
  std::ofstream(marker) << "Headstart led";
  EXPECT_THAT(Ledger::Open(Options()), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("is damaged")));
  std::ofstream(marker) << "Headstart ledger, format 1\n";
  Open();
  EXPECT_THAT(Ids(), SizeIs(1));
}

TEST_F(LedgerTest, ForeignDirectoryIsRefused) {
  std::filesystem::create_directory(folder_.Path("ledger"));
  std::ofstream(folder_.Path("ledger/notes.txt")) << "mine";
  EXPECT_THAT(Ledger::Open(Options()), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("notes.txt")));
}

TEST_F(LedgerTest, RetentionMustBeSensible) {
  LedgerOptions options = Options();
  options.keep_hours = absl::Hours(1);
  EXPECT_THAT(Ledger::Open(options), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at least as long")));
}

TEST_F(LedgerTest, CursorEndsWhenTheLedgerIsClosed) {
  Open();
  Post({});
  ASSERT_OK_AND_ASSIGN(auto cursor, ledger_->ReadRecords(absl::InfinitePast(), absl::InfiniteFuture()));
  files_.Fail({.operation = IoOperation::kWrite});
  Post({.id = "2"});
  ledger_->Flush();
  EXPECT_THAT(cursor.Next(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("read it anew")));
  ledger_.reset();
  EXPECT_FALSE(cursor.Next().ok());
}

TEST_F(LedgerTest, CursorSeesWhatWasThereWhenItWasOpened) {
  Open();
  for (int i = 0; i < 5; ++i) Post({.id = fmt::format("{}", i)});
  ASSERT_OK_AND_ASSIGN(auto cursor, ledger_->ReadRecords(absl::InfinitePast(), absl::InfiniteFuture()));
  EXPECT_THAT(*cursor.Next("", {.max_entries = 2}), SizeIs(2));
  for (int i = 0; i < 9; ++i) Post({.id = fmt::format("new-{}", i)});
  Post({.id = "4", .completion_tokens = 99});
  EXPECT_THAT(*cursor.Next("globex"), IsEmpty());  // looks at the rest and finds none
  EXPECT_TRUE(cursor.at_end());
  EXPECT_THAT(AllRecords(*ledger_), SizeIs(14));
}

// --- retention

TEST_F(LedgerTest, OldEntriesGoWithTheirIdsAndOldSumsLater) {
  LedgerOptions options = Options();
  options.keep_records = absl::Hours(24);
  options.keep_hours = absl::Hours(48);
  Open(options);
  for (int hour = 0; hour < 72; ++hour) Post({.id = fmt::format("r{}", hour), .end = Ten() + absl::Hours(hour)});
  now_ = Ten() + absl::Hours(72);
  ledger_->ExpireNow();
  EXPECT_THAT(AllRecords(*ledger_), SizeIs(24));
  EXPECT_THAT(AllHours(*ledger_), SizeIs(48));
  EXPECT_FALSE(ledger_->Find("acme", "r47").ok());
  EXPECT_TRUE(ledger_->Find("acme", "r48").ok());
  EXPECT_FALSE(Post({.id = "r3", .end = now_}).stored.repeated);
  Open(options);
  EXPECT_THAT(AllRecords(*ledger_), SizeIs(25));
  ledger_->ExpireNow();
  EXPECT_THAT(AllRecords(*ledger_), SizeIs(25));
}

TEST_F(LedgerTest, MoreThanAStepIsRemovedInSteps) {
  LedgerOptions options = Options();
  options.directory = "";
  options.env = nullptr;
  options.keep_records = absl::Hours(1);
  Open(options);
  for (int i = 0; i < 5000; ++i) ledger_->Post(MakeEntry({.id = fmt::format("r{}", i)}), nullptr);
  ledger_->Flush();
  EXPECT_THAT(AllRecords(*ledger_), SizeIs(5000));
  now_ = Ten() + absl::Hours(2);
  ledger_->ExpireNow();
  EXPECT_THAT(AllRecords(*ledger_), IsEmpty());
  EXPECT_THAT(AllHours(*ledger_), SizeIs(1));
}

// A server that keeps no account on disk is not to need more memory with every request.
TEST_F(LedgerTest, InMemoryTheNewestStayAndAllSums) {
  LedgerOptions options = Options();
  options.directory = "";
  options.env = nullptr;
  options.max_records_in_memory = 640;
  Open(options);
  constexpr int kPosted = 5000;
  const auto end_of = [](int i) { return Ten() + absl::Milliseconds(100) * i; };
  for (int i = 0; i < kPosted; ++i) {
    ledger_->Post(MakeEntry({.id = fmt::format("r{}", i), .end = end_of(i)}), nullptr);
  }
  ledger_->Flush();
  ledger_->ExpireNow();
  const std::vector<v1::UsageEntry> kept = AllRecords(*ledger_);
  EXPECT_GE(kept.size(), 630u);
  EXPECT_LE(kept.size(), 660u);
  EXPECT_EQ(kept.back().request_id(), fmt::format("r{}", kPosted - 1));
  const auto hours = AllHours(*ledger_);
  ASSERT_THAT(hours, SizeIs(1));
  EXPECT_EQ(hours.begin()->second.requests(), kPosted);
}

TEST_F(LedgerTest, OnDiskTheyStayAsLongAsTheirAgeAllows) {
  LedgerOptions options = Options();
  options.max_records_in_memory = 64;
  Open(options);
  for (int i = 0; i < 500; ++i) ledger_->Post(MakeEntry({.id = fmt::format("r{}", i)}), nullptr);
  ledger_->Flush();
  ledger_->ExpireNow();
  EXPECT_THAT(AllRecords(*ledger_), SizeIs(500));
}

TEST_F(LedgerTest, FailureWhileRemovingIsRecoveredFrom) {
  LedgerOptions options = Options();
  options.keep_records = absl::Hours(1);
  Open(options);
  Post({});
  now_ = Ten() + absl::Hours(2);
  files_.Fail({.operation = IoOperation::kWrite, .ending = ".log"});
  ledger_->ExpireNow();
  EXPECT_TRUE(ledger_->RetryNow() || ledger_->failing());
  files_.Heal();
  EXPECT_TRUE(ledger_->RetryNow());
  ledger_->ExpireNow();
  EXPECT_THAT(AllRecords(*ledger_), IsEmpty());
}

}  // namespace
}  // namespace headstart::testing
