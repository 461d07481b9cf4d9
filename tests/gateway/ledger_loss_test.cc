// The ledger when its directory is removed, moved or replaced while it runs.

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/gateway/ledger_fixture.h"
#include "tests/testing/sanitizers.h"

namespace headstart::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// What somebody does to the directory of a running ledger.
struct LossCase {
  std::string name;
  std::function<void(const std::filesystem::path& directory)> lose;
  bool put_back = false;  // the same files are there again before the ledger looks
};

void MoveAway(const std::filesystem::path& directory) {
  std::filesystem::rename(directory, directory.string() + ".away");
}

void MoveBack(const std::filesystem::path& directory) {
  std::filesystem::remove_all(directory);
  std::filesystem::rename(directory.string() + ".away", directory);
}

class LedgerLossTest : public LedgerTest, public ::testing::WithParamInterface<LossCase> {};

TEST_P(LedgerLossTest, WhatNobodyWouldFindIsNotCalledRecorded) {
  const std::filesystem::path directory = folder_.Path("ledger");
  Open();
  ASSERT_TRUE(Post({.id = "before"}).recorded);
  GetParam().lose(directory);
  EXPECT_FALSE(Post({.id = "during"}).recorded);
  EXPECT_FALSE(Post({.id = "during too"}).recorded);
  ledger_->Flush();
  EXPECT_TRUE(ledger_->failing());
  EXPECT_EQ(ledger_->waiting(), 2);
  const auto events = log_.events();
  EXPECT_EQ(std::ranges::count_if(events, [](const auto& e) { return e.find("removed, moved") != e.npos; }), 1);
  EXPECT_THAT(events, Contains(AllOf(HasSubstr("does not take records"), HasSubstr(directory.string()))));
  if (GetParam().put_back) MoveBack(directory);
  EXPECT_TRUE(ledger_->RetryNow());
  EXPECT_EQ(ledger_->waiting(), 0);
  EXPECT_TRUE(Post({.id = "after"}).recorded);
  std::vector<std::string> expected = {"acme/after", "acme/during", "acme/during too"};
  if (GetParam().put_back) expected.insert(expected.begin(), "acme/before");
  Open();  // what was called recorded is there for the next server
  EXPECT_THAT(Ids(), ::testing::UnorderedElementsAreArray(expected));
  ExpectSumsMatch();
}

INSTANTIATE_TEST_SUITE_P(
    Files, LedgerLossTest,
    ::testing::Values(
        LossCase{"DirectoryRemoved", [](const auto& directory) { std::filesystem::remove_all(directory); }},
        LossCase{"DatabaseRemoved", [](const auto& directory) { std::filesystem::remove_all(directory / "entries"); }},
        LossCase{"FilesRemoved",
                 [](const auto& directory) {
                   for (const auto& file : std::filesystem::directory_iterator(directory / "entries")) {
                     std::filesystem::remove(file);
                   }
                 }},
        LossCase{"EmptyDirectoryInstead",
                 [](const auto& directory) {
                   std::filesystem::remove_all(directory);
                   std::filesystem::create_directory(directory);
                 }},
        LossCase{"MovedAway", MoveAway}, LossCase{"MovedAwayAndBack", MoveAway, true},
        LossCase{"AnotherOneInstead",
                 [](const auto& directory) {
                   MoveAway(directory);
                   LedgerOptions options;
                   options.directory = directory.string() + ".other";
                   ASSERT_OK(Ledger::Open(options));
                   std::filesystem::rename(options.directory, directory);
                 }}),
    [](const auto& test) { return test.param.name; });

TEST_F(LedgerTest, WaitsForAPlaceForItsDirectory) {
  LedgerOptions options = Options();
  options.directory = folder_.Path("volume") + "/ledger";
  std::filesystem::create_directory(folder_.Path("volume"));
  Open(options);
  std::filesystem::remove_all(folder_.Path("volume"));
  EXPECT_FALSE(Post({.id = "waits"}).recorded);
  EXPECT_FALSE(ledger_->RetryNow());
  EXPECT_FALSE(ledger_->RetryNow());
  std::filesystem::create_directory(folder_.Path("volume"));
  EXPECT_TRUE(ledger_->RetryNow());
  EXPECT_THAT(Ids(), ElementsAre("acme/waits"));
}

// --- another server

// Opens a ledger, says so by closing `ready`, and lets it go when `until` is closed at the other end.
[[noreturn]] void HoldLedger(const std::string& directory, int ready, int until) {
  LedgerOptions options;
  options.directory = directory;
  auto ledger = Ledger::Open(options);
  if (!ledger.ok()) _exit(3);
  close(ready);
  char c = 0;
  while (read(until, &c, 1) > 0) {
  }
  ledger->reset();
  _exit(0);
}

TEST_F(LedgerTest, DirectoryThatAnotherServerTookIsLeftAlone) {
  if (kUnderThreadSanitizer) GTEST_SKIP() << "there, a process that was forked beside threads can start none";
  int ready[2];
  int until[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(until), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    close(ready[0]);
    close(until[1]);
    HoldLedger(folder_.Path("other"), ready[1], until[0]);
  }
  close(ready[1]);
  close(until[0]);
  char c = 0;
  ASSERT_EQ(read(ready[0], &c, 1), 0);
  Open();
  std::filesystem::remove_all(folder_.Path("ledger"));
  std::filesystem::create_directory_symlink(folder_.Path("other"), folder_.Path("ledger"));
  EXPECT_FALSE(Post({.id = "mine"}).recorded);
  EXPECT_FALSE(ledger_->RetryNow());
  EXPECT_EQ(ledger_->waiting(), 1);
  close(until[1]);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(ledger_->RetryNow());
  EXPECT_THAT(Ids(), ElementsAre("acme/mine"));
  close(ready[0]);
}

}  // namespace
}  // namespace headstart::testing
