// Adding and revoking keys in a file that people have written.

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "fmt/format.h"
#include "gateway/auth/key_file_edit.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status.h"
#include "tests/testing/temporary_folder.h"

namespace headstart::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

KeyEntry Entry(const std::string& id) {
  return {.caller = {.tenant = "acme", .role = Role::kTenant, .key_id = id}, .digest = DigestOf(id)};
}

constexpr char kFile[] = R"(# who may call
keys:   # ours
    # the build's
    - id: ci
      sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
      tenant: acme   # for now
    - {id: two, tenant: acme,
       sha256: 60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752}

# what they may spend
tenants:
  acme: {budget: {currency: USD, hard: 1}}
)";

TEST(KeyFileEditTest, AddsAtTheEndOfTheListAndTakesAwayAgain) {
  ASSERT_OK_AND_ASSIGN(const std::string with, WithKey(kFile, Entry("new")));
  EXPECT_THAT(with, HasSubstr("c11c752}\n    - id: \"new\"\n      tenant: \"acme\"\n"));
  ASSERT_OK_AND_ASSIGN(const KeyTable table, KeyTable::Parse(with));
  EXPECT_NE(table.FindKey(DigestOf("new")), nullptr);
  EXPECT_TRUE(table.BudgetOf("acme").has_value());
  EXPECT_EQ(*WithoutKey(with, "new"), kFile);
}

TEST(KeyFileEditTest, TakesAwayTheLinesOfOneKeyAlone) {
  ASSERT_OK_AND_ASSIGN(const std::string without, WithoutKey(kFile, "ci"));
  EXPECT_EQ(without, R"(# who may call
keys:   # ours
    # the build's
    - {id: two, tenant: acme,
       sha256: 60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752}

# what they may spend
tenants:
  acme: {budget: {currency: USD, hard: 1}}
)");
}

// The last one too: a server must not go on with a key because the file without it looks wrong.
TEST(KeyFileEditTest, TheLastKeyCanGoAndTheFirstCanCome) {
  ASSERT_OK_AND_ASSIGN(const std::string one, WithKey("", Entry("a")));
  ASSERT_OK_AND_ASSIGN(const std::string none, WithoutKey(one, "a"));
  ASSERT_OK_AND_ASSIGN(const KeyTable table, KeyTable::Parse(none));
  EXPECT_THAT(table.keys(), SizeIs(0));
  EXPECT_EQ(*WithKey(none, Entry("a")), one);
}

TEST(KeyFileEditTest, EveryEntryComesBackAsItWas) {
  KeyEntry entry = Entry("deploy@ci:1");
  entry.caller.role = Role::kOperator;
  entry.expires = absl::FromCivil(absl::CivilSecond(2027, 2, 28, 1, 2, 3), absl::UTCTimeZone());
  KeyEntry number = Entry("1e3");  // which YAML would read as a number
  number.caller.tenant = "null";
  for (const KeyEntry& added : {entry, number}) {
    ASSERT_OK_AND_ASSIGN(const std::string text, WithKey("", added));
    ASSERT_OK_AND_ASSIGN(const KeyTable table, KeyTable::Parse(text));
    const KeyEntry* found = table.FindKey(added.digest);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->caller, added.caller);
    EXPECT_EQ(found->expires, added.expires);
  }
}

TEST(KeyFileEditTest, ListsInOtherShapes) {
  for (const char* text : {"certificates:\n", "keys: []  # none yet\ncertificates:\n", "keys:", "keys:\ntenants: {}\n",
                           "keys:\n- {id: x, tenant: t, sha256: "
                           "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08}"}) {
    const auto changed = WithKey(text, Entry("new"));
    // Either it says what was meant, or it is left to people.
    if (!changed.ok()) {
      EXPECT_THAT(changed, StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("by hand"))) << text;
      continue;
    }
    ASSERT_OK_AND_ASSIGN(const KeyTable table, KeyTable::Parse(*changed));
    EXPECT_NE(table.FindKey(DigestOf("new")), nullptr) << text;
  }
  EXPECT_OK(WithKey("certificates:\n", Entry("new")));
  EXPECT_OK(WithKey("keys:", Entry("new")));
}

TEST(KeyFileEditTest, WhatCannotBeChangedSafelyIsLeftToPeople) {
  const std::string flow = fmt::format("keys: [{{id: a, tenant: t, sha256: {}}}, {{id: b, tenant: t, sha256: {}}}]\n",
                                       ToHex(DigestOf("a")), ToHex(DigestOf("b")));
  EXPECT_THAT(WithKey(flow, Entry("new")), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("by hand")));
  EXPECT_THAT(WithoutKey(flow, "a"), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("lines 1 to 1")));
}

TEST(KeyFileEditTest, Refusals) {
  EXPECT_THAT(WithKey(kFile, Entry("ci")), StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("\"ci\"")));
  EXPECT_THAT(WithoutKey(kFile, "nobody"), StatusIs(absl::StatusCode::kNotFound, HasSubstr("\"nobody\"")));
  EXPECT_THAT(WithKey("keyz:\n", Entry("a")), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("line 1")));
}

absl::StatusOr<std::string> Append(const std::string& text) { return text + "x"; }

TEST(ChangeFileTest, MakesAFileForItsOwnerAlone) {
  TemporaryFolder folder;
  ASSERT_OK(ChangeFile(folder.Path("keys.yaml"), Append));
  EXPECT_EQ(folder.Read("keys.yaml"), "x");
  struct stat info;
  ASSERT_EQ(stat(folder.Path("keys.yaml").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
}

TEST(ChangeFileTest, KeepsModeAndLinks) {
  TemporaryFolder folder;
  folder.Write("real", "a");
  chmod(folder.Path("real").c_str(), 0640);
  std::filesystem::create_symlink("real", folder.Path("link"));
  ASSERT_OK(ChangeFile(folder.Path("link"), Append));
  EXPECT_EQ(folder.Read("real"), "ax");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.Path("link")));
  struct stat info;
  ASSERT_EQ(stat(folder.Path("real").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0640u);
}

TEST(ChangeFileTest, ARefusedEditChangesNothing) {
  TemporaryFolder folder;
  folder.Write("f", "a");
  EXPECT_THAT(ChangeFile(folder.Path("f"), [](const std::string&) { return absl::NotFoundError("no"); }),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr(folder.Path("f") + ": no")));
  EXPECT_EQ(folder.Read("f"), "a");
}

// No file of this process may grow beyond `bytes` while it lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(ChangeFileTest, AFailedWriteLeavesTheOldFileAndNothingBesides) {
  TemporaryFolder folder;
  folder.Write("f", "a");
  {
    FileSizeLimit full(100);
    const auto grow = [](const std::string& text) {
      return absl::StatusOr<std::string>(text + std::string(1000, 'x'));
    };
    EXPECT_FALSE(ChangeFile(folder.Path("f"), grow).ok());
  }
  EXPECT_EQ(folder.Read("f"), "a");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.Path("")), {}), 1);
}

TEST(ChangeFileTest, FoldersThatAreNotThere) {
  EXPECT_THAT(ChangeFile("/nowhere/f", Append), StatusIs(absl::StatusCode::kNotFound, HasSubstr("/nowhere/f")));
  EXPECT_FALSE(ChangeFile("/", Append).ok());
}

TEST(ChangeFileTest, ChangesOfManyAreAllThere) {
  TemporaryFolder folder;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 25; ++n) EXPECT_OK(ChangeFile(folder.Path("f"), Append));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(folder.Read("f"), SizeIs(100));
}

}  // namespace
}  // namespace headstart::testing
