// The ledger: entries, repetitions, failures of the disk, retention, and what survives a kill.

#include "gateway/ledger/ledger.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <random>
#include <set>
#include <thread>

#include "fmt/format.h"
#include "gateway/accounting/charge.h"
#include "gateway/ledger/attempts.h"
#include "gateway/ledger/internal/ledger_keys.h"
#include "gateway/ledger/usage_totals.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/gateway/ledger_testing.h"
#include "tests/testing/faulty_file_system.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class EventLog {
 public:
  std::function<void(const std::string&)> callback() {
    return [this](const std::string& event) {
      MutexLock lock(mutex_);
      events_.push_back(event);
    };
  }
  std::vector<std::string> events() {
    MutexLock lock(mutex_);
    return events_;
  }

 private:
  Mutex mutex_;
  std::vector<std::string> events_ ABSL_GUARDED_BY(mutex_);
};

class LedgerTest : public ::testing::Test {
 protected:
  // On disk, and tried again after failures only when a test says so.
  LedgerOptions Options() {
    LedgerOptions options;
    options.directory = folder_ / "ledger";
    options.env = files_.env();
    options.on_event = log_.callback();
    options.now = [this] { return now_; };
    options.first_retry = options.longest_retry = absl::Hours(10);
    options.expire_every = absl::Hours(10);
    return options;
  }
  void Open() { Open(Options()); }
  void Open(LedgerOptions options) {
    ledger_.reset();
    auto opened = Ledger::Open(std::move(options));
    ASSERT_OK(opened);
    ledger_ = *std::move(opened);
  }
  PostResult Post(const EntrySpec& spec) { return testing::Post(*ledger_, MakeEntry(spec)); }
  void ExpectSumsMatch() { EXPECT_EQ(Text(AllHours(*ledger_)), Text(SumByHour(AllRecords(*ledger_)))); }
  std::vector<std::string> Ids() {
    std::vector<std::string> ids;
    for (const auto& entry : AllRecords(*ledger_)) ids.push_back(entry.tenant() + "/" + entry.request_id());
    return ids;
  }

  TemporaryFolder folder_;
  FaultyFileSystem files_;
  EventLog log_;
  absl::Time now_ = Ten();
  std::unique_ptr<Ledger> ledger_;
};

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
  const std::string marker = folder_ / "ledger/HEADSTART_LEDGER";
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
  std::filesystem::create_directory(folder_ / "ledger");
  std::ofstream(folder_ / "ledger/notes.txt") << "mine";
  EXPECT_THAT(Ledger::Open(Options()), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("notes.txt")));
}

TEST_F(LedgerTest, RetentionMustBeSensible) {
  LedgerOptions options = Options();
  options.keep_hours = absl::Hours(1);
  EXPECT_THAT(Ledger::Open(options), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at least as long")));
}

// --- the disk fails

struct FailureCase {
  std::string name;
  IoFault fault;
};

class LedgerFailureTest : public LedgerTest, public ::testing::WithParamInterface<FailureCase> {};

TEST_P(LedgerFailureTest, NothingIsLostOrBilledTwice) {
  Open();
  ASSERT_TRUE(Post({.id = "before"}).recorded);
  files_.Fail(GetParam().fault);
  const PostResult refused = Post({.id = "during", .completion_tokens = 3});
  EXPECT_FALSE(refused.recorded);
  EXPECT_EQ(refused.stored.entry.request_id(), "during");
  EXPECT_GT(files_.failed(), 0);
  EXPECT_FALSE(Post({.id = "during", .completion_tokens = 7}).recorded);
  EXPECT_FALSE(Post({.id = "before", .completion_tokens = 11}).recorded);
  ledger_->Flush();
  EXPECT_TRUE(ledger_->failing());
  EXPECT_EQ(ledger_->waiting(), 3);
  EXPECT_TRUE(ledger_->accepting());
  EXPECT_THAT(ledger_->Find("acme", "before"), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("disk")));
  EXPECT_THAT(log_.events(), Contains(HasSubstr("does not take records")));
  files_.Heal();
  EXPECT_TRUE(ledger_->RetryNow());
  EXPECT_EQ(ledger_->waiting(), 0);
  EXPECT_THAT(Ids(), ElementsAre("acme/before", "acme/during"));
  ASSERT_OK_AND_ASSIGN(const auto during, ledger_->Find("acme", "during"));
  EXPECT_EQ(during.attempts(), 2);
  EXPECT_EQ(during.usage().completion_tokens(), 7);
  EXPECT_TRUE(Post({.id = "after"}).recorded);
  ExpectSumsMatch();
  Open();
  EXPECT_THAT(Ids(), SizeIs(3));
  ExpectSumsMatch();
}

INSTANTIATE_TEST_SUITE_P(
    Disk, LedgerFailureTest,
    ::testing::Values(FailureCase{"WriteToLog", {.operation = IoOperation::kWrite, .ending = ".log"}},
                      FailureCase{"NoSpace", {.operation = IoOperation::kWrite, .error = NoSpaceLeft()}},
                      // The bytes are in the file although the sync failed: the group is there when it is opened anew.
                      FailureCase{"SyncOfLog", {.operation = IoOperation::kSync, .ending = ".log"}},
                      FailureCase{"OneSync", {.operation = IoOperation::kSync, .only_once = true, .ending = ".log"}},
                      FailureCase{"EverySync", {.operation = IoOperation::kSync}}),
    [](const auto& test) { return test.param.name; });

TEST_F(LedgerTest, RetryFailsWhileTheDiskDoes) {
  Open();
  files_.Fail({.operation = IoOperation::kWrite, .error = NoSpaceLeft()});
  EXPECT_FALSE(Post({}).recorded);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(ledger_->RetryNow());
  EXPECT_EQ(ledger_->waiting(), 1);
  files_.Heal();
  EXPECT_TRUE(ledger_->RetryNow());
  EXPECT_THAT(Ids(), ElementsAre("acme/r1"));
}

TEST_F(LedgerTest, TriesAgainByItself) {
  LedgerOptions options = Options();
  options.first_retry = absl::Milliseconds(1);
  Open(options);
  files_.Fail({.operation = IoOperation::kWrite, .only_once = true, .ending = ".log"});
  EXPECT_FALSE(Post({}).recorded);
  ledger_->Flush();  // the failure is known
  while (ledger_->failing()) std::this_thread::yield();
  EXPECT_THAT(Ids(), ElementsAre("acme/r1"));
}

TEST_F(LedgerTest, TooMuchThatWaitsEndsAccepting) {
  LedgerOptions options = Options();
  options.max_waiting = 2;
  Open(options);
  files_.Fail({.operation = IoOperation::kWrite});
  Post({.id = "1"});
  ledger_->Flush();
  EXPECT_TRUE(ledger_->accepting());
  Post({.id = "2"});
  ledger_->Flush();
  EXPECT_FALSE(ledger_->accepting());
  Post({.id = "3"});  // was let in before
  files_.Heal();
  EXPECT_TRUE(ledger_->RetryNow());
  EXPECT_TRUE(ledger_->accepting());
  EXPECT_THAT(Ids(), SizeIs(3));
}

TEST_F(LedgerTest, WhatCannotBeWrittenAtTheEndIsTold) {
  Open();
  files_.Fail({.operation = IoOperation::kWrite});
  Post({.id = "lost-1"});
  Post({.id = "lost-2"});
  ledger_.reset();
  EXPECT_THAT(log_.events(), Contains(HasSubstr("2 records of the account could not be written")));
  EXPECT_THAT(log_.events(), Contains(AllOf(HasSubstr("\"request_id\":\"lost-1\""), HasSubstr("\"cost_nanos\":"))));
  EXPECT_THAT(log_.events(), Contains(HasSubstr("\"request_id\":\"lost-2\"")));
}

TEST_F(LedgerTest, WhatWaitsIsWrittenAtTheEndWhenTheDiskIsBack) {
  Open();
  files_.Fail({.operation = IoOperation::kSync});
  Post({.id = "late"});
  files_.Heal();
  Open();
  EXPECT_THAT(Ids(), ElementsAre("acme/late"));
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

// --- against a naive account

struct Naive {
  std::map<std::pair<std::string, std::string>, v1::UsageEntry> entries;

  void Post(v1::UsageEntry entry) {
    const std::string id = entry.request_id();
    for (int number = 2;; ++number) {
      const auto [found, is_new] = entries.try_emplace({entry.tenant(), entry.request_id()}, entry);
      if (is_new) return;
      if (found->second.request_digest() == entry.request_digest()) return JoinAttempt(entry, found->second);
      entry.set_request_id(fmt::format("{}~{}", id, number));
    }
  }
};

TEST_F(LedgerTest, RandomPostingsFailuresAndReopeningsMatchANaiveAccount) {
  std::mt19937_64 random(7);
  const auto pick = [&random](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  Open();
  Naive naive;
  for (int step = 0; step < 3000; ++step) {
    const v1::UsageEntry entry = MakeEntry({.tenant = fmt::format("t{}", pick(3)),
                                            .id = fmt::format("r{}", pick(60)),
                                            .end = Ten() + absl::Seconds(pick(20'000)),
                                            .completion_tokens = pick(100),
                                            .digest = static_cast<uint64_t>(pick(8) == 0),
                                            .labels = {{"team", fmt::format("{}", pick(3))}}});
    naive.Post(entry);
    ledger_->Post(entry, nullptr);
    switch (pick(60)) {
      case 0:
        files_.Fail({.operation = pick(2) == 0 ? IoOperation::kWrite : IoOperation::kSync,
                     .after = pick(3),
                     .only_once = pick(2) == 0});
        break;
      case 1:
      case 2:
        files_.Heal();
        EXPECT_TRUE(ledger_->RetryNow());
        break;
      case 3:
        files_.Heal();
        Open();
        break;
      case 4:
        ledger_->RetryNow();
        break;
      default:
        break;
    }
  }
  files_.Heal();
  ASSERT_TRUE(ledger_->RetryNow());
  ledger_->Flush();
  std::vector<v1::UsageEntry> expected;
  for (const auto& [id, entry] : naive.entries) expected.push_back(entry);
  const auto records = AllRecords(*ledger_);
  ASSERT_EQ(records.size(), expected.size());
  for (const auto& entry : expected) {
    ASSERT_OK_AND_ASSIGN(const auto found, ledger_->Find(entry.tenant(), entry.request_id()));
    EXPECT_EQ(Text(found), Text(entry));
  }
  EXPECT_EQ(Text(AllHours(*ledger_)), Text(SumByHour(expected)));
}

// --- killed

// Posts from several threads until it is killed; writes each acknowledged id to `pipe`.
[[noreturn]] void PostUntilKilled(const std::string& directory, int pipe, int round) {
  LedgerOptions options;
  options.directory = directory;
  auto ledger = Ledger::Open(options);
  if (!ledger.ok()) _exit(3);
  for (int i = 0;; ++i) {
    const std::string id = fmt::format("{}-{:06}", round, i);
    (*ledger)->Post(MakeEntry({.id = id, .end = Ten() + absl::Seconds(i)}), [pipe, id](const PostResult& result) {
      const std::string line = id + "\n";
      if (!result.recorded || write(pipe, line.data(), line.size()) < 0) _exit(4);
    });
    if (i % 16 == 0) (*ledger)->Flush();
  }
}

// Reads lines until the other end is closed; kills the child once there are `enough`.
std::vector<std::string> ReadIds(int pipe, pid_t child, size_t enough) {
  std::vector<std::string> ids;
  std::string line;
  char c = 0;
  while (read(pipe, &c, 1) == 1) {
    if (c != '\n') {
      line.push_back(c);
      continue;
    }
    ids.push_back(std::exchange(line, {}));
    if (ids.size() == enough) kill(child, SIGKILL);
  }
  return ids;
}

TEST_F(LedgerTest, AcknowledgedRecordsSurviveAKill) {
  std::mt19937_64 random(11);
  std::set<std::string> acknowledged;
  for (int round = 0; round < 5; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      close(ends[0]);
      PostUntilKilled(folder_ / "killed", ends[1], round);
    }
    close(ends[1]);
    for (std::string& id : ReadIds(ends[0], child, 50 + random() % 400)) acknowledged.insert(std::move(id));
    close(ends[0]);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself with " << WEXITSTATUS(status);
  }
  LedgerOptions options;
  options.directory = folder_ / "killed";
  Open(options);
  std::map<std::string, int> times;
  for (const auto& entry : AllRecords(*ledger_)) ++times[entry.request_id()];
  EXPECT_GE(acknowledged.size(), 250u);
  for (const std::string& id : acknowledged) EXPECT_EQ(times[id], 1) << id;
  ExpectSumsMatch();
}

}  // namespace
}  // namespace headstart::testing
