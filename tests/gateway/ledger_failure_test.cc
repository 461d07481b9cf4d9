// The ledger when its disk fails, at random and at every place, and when its process is killed.

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "fmt/format.h"
#include "gateway/ledger/attempts.h"
#include "gateway/ledger/internal/ledger_keys.h"
#include "gateway/ledger/usage_totals.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/gateway/ledger_fixture.h"
#include "tests/testing/sanitizers.h"

namespace headstart::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

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

TEST_F(LedgerTest, FullDiskRefusesAStartInOneSentence) {
  for (const bool is_new : {true, false}) {
    if (!is_new) Open();
    ledger_.reset();
    files_.Fail({.operation = IoOperation::kWrite, .error = NoSpaceLeft()});
    const auto refused = Ledger::Open(Options());
    files_.Heal();
    EXPECT_THAT(refused, StatusIs(absl::StatusCode::kUnavailable,
                                  AllOf(HasSubstr(folder_.Path("ledger")), EndsWith(": no space left on the device"))));
    EXPECT_THAT(log_.events(), IsEmpty());
  }
}

TEST_F(LedgerTest, WhatItSaysOfFailuresAreSentences) {
  Open();
  files_.Fail({.operation = IoOperation::kWrite, .error = NoSpaceLeft()});
  Post({.id = "lost"});
  EXPECT_FALSE(ledger_->RetryNow());
  EXPECT_THAT(log_.events(), Not(IsEmpty()));
  EXPECT_THAT(log_.events(), Each(Not(HasSubstr("\n"))));
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
  if (kUnderThreadSanitizer) GTEST_SKIP() << "there, a process that was forked beside threads can start none";
  std::mt19937_64 random(11);
  std::set<std::string> acknowledged;
  for (int round = 0; round < 5; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      close(ends[0]);
      PostUntilKilled(folder_.Path("killed"), ends[1], round);
    }
    close(ends[1]);
    for (std::string& id : ReadIds(ends[0], child, 50 + random() % 400)) acknowledged.insert(std::move(id));
    close(ends[0]);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself with " << WEXITSTATUS(status);
  }
  LedgerOptions options;
  options.directory = folder_.Path("killed");
  Open(options);
  std::map<std::string, int> times;
  for (const auto& entry : AllRecords(*ledger_)) ++times[entry.request_id()];
  EXPECT_GE(acknowledged.size(), 250u);
  for (const std::string& id : acknowledged) EXPECT_EQ(times[id], 1) << id;
  ExpectSumsMatch();
}

}  // namespace
}  // namespace headstart::testing
