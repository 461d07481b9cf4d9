// `headstart cache` against a server in this process, whose engine is a fake: what is printed, and the exit codes.

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gateway/cli/commands.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "prefix_store/tier/disk_tier.h"
#include "tests/gateway/fake_engine.h"
#include "tests/gateway/program_testing.h"
#include "tests/gateway/rpc_testing.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CacheCommandTest : public ::testing::Test {
 protected:
  CacheCommandTest() {
    auto engine = std::make_unique<FakeEngine>();
    engine_ = engine.get();
    served_.emplace(std::move(engine));
  }

  // `headstart cache <words> --server <ours>`
  Result Cache(std::vector<std::string> words) {
    words.insert(words.begin(), "cache");
    words.insert(words.end(), {"--server", served_->host().server().address()});
    return RunProgram(std::move(words));
  }

  FakeEngine* engine_ = nullptr;
  std::optional<ServedEngine> served_;
};

std::string TempPath(const std::string& name) {
  return ::testing::TempDir() + "cache_command_" + name + std::to_string(getpid());
}

TEST_F(CacheCommandTest, WarmedPrefixIsListedShownAndDropped) {
  const Result warmed = Cache({"warm", "Where is the red lamp?", "--id", "lamp", "--ttl", "90m", "--name", "the lamp"});
  EXPECT_EQ(warmed.exit_code, kExitOk) << warmed.err;
  EXPECT_THAT(warmed.out, AllOf(HasSubstr("lamp: 6 tokens pinned"), HasSubstr("0 cached, 6 computed"),
                                HasSubstr("expires in 1h29m")));
  const Result listed = Cache({"list"});
  EXPECT_EQ(listed.exit_code, kExitOk);
  EXPECT_THAT(listed.out, AllOf(HasSubstr("lamp  own          6"), HasSubstr("in 1h29m"), HasSubstr("the lamp")));
  const Result shown = Cache({"show", "lamp"});
  EXPECT_THAT(shown.out, AllOf(HasSubstr("tokens   6 (6 pinned)"), HasSubstr("created  2023-11-14 22:13:20 UTC")));
  EXPECT_THAT(Cache({"show", "lamp", "--json"}).out, HasSubstr("\"pinned_tokens\":\"6\""));
  EXPECT_EQ(Cache({"drop", "lamp"}).exit_code, kExitOk);
  EXPECT_THAT(Cache({"list"}).out, HasSubstr("no prefixes"));
  const Result again = Cache({"drop", "lamp"});
  EXPECT_EQ(again.exit_code, kExitFailure);
  EXPECT_THAT(again.err, HasSubstr("error: there is no prefix lamp"));
}

TEST_F(CacheCommandTest, PinHasNoExpiry) {
  EXPECT_THAT(Cache({"pin", "Where is the red lamp?", "--id", "lamp"}).out, HasSubstr("expires never"));
  EXPECT_EQ(engine_->created().at(0).expires, absl::InfiniteFuture());
  EXPECT_EQ(Cache({"pin", "x", "--ttl", "1h"}).exit_code, kExitUsage);
}

TEST_F(CacheCommandTest, WarmEndsByItself) {
  const absl::Time before = absl::Now();
  EXPECT_EQ(Cache({"warm", "Where is the red lamp?"}).exit_code, kExitOk);
  EXPECT_GE(engine_->created().at(0).expires, before + absl::Hours(1));
  EXPECT_LE(engine_->created().at(0).expires, absl::Now() + absl::Hours(1));
}

TEST_F(CacheCommandTest, PublicPrefixesAreAnotherScope) {
  EXPECT_EQ(Cache({"pin", "Where is the red lamp?", "--id", "lamp", "--public"}).exit_code, kExitOk);
  EXPECT_EQ(engine_->created().at(0).scope, Scope::Public());
  EXPECT_THAT(Cache({"list"}).out, HasSubstr("public"));
  EXPECT_EQ(Cache({"show", "lamp"}).exit_code, kExitFailure);
  EXPECT_EQ(Cache({"show", "lamp", "--public"}).exit_code, kExitOk);
  EXPECT_EQ(Cache({"drop", "lamp"}).exit_code, kExitFailure);
  EXPECT_EQ(Cache({"drop", "lamp", "--public"}).exit_code, kExitOk);
}

TEST_F(CacheCommandTest, PromptFromAFileIsThePromptItself) {
  const std::string path = TempPath("prompt");
  std::ofstream(path, std::ios::binary) << "Where is the red lamp?";
  EXPECT_EQ(Cache({"warm", "--file", path}).exit_code, kExitOk);
  EXPECT_EQ(Cache({"warm", "Where is the red lamp?"}).exit_code, kExitOk);
  EXPECT_EQ(engine_->created().at(0).tokens, engine_->created().at(1).tokens);
  EXPECT_EQ(Cache({"warm", "--file", path, "--system"}).exit_code, kExitOk);
  EXPECT_GT(engine_->created().at(2).tokens.size(), engine_->created().at(1).tokens.size());
  std::ofstream(path, std::ios::binary) << "ab\xff";
  const Result binary = Cache({"warm", "--file", path});
  EXPECT_EQ(binary.exit_code, kExitFailure);
  EXPECT_THAT(binary.err, HasSubstr("not UTF-8 text: byte 2"));
  std::filesystem::remove(path);
  const Result missing = Cache({"warm", "--file", path});
  EXPECT_EQ(missing.exit_code, kExitFailure);
  EXPECT_THAT(missing.err, HasSubstr(path));
}

TEST_F(CacheCommandTest, AFolderIsNoPrompt) {
  const Result folder = Cache({"warm", "--file", ::testing::TempDir()});
  EXPECT_EQ(folder.exit_code, kExitFailure);
  EXPECT_THAT(folder.err, HasSubstr("cannot read"));
}

TEST_F(CacheCommandTest, PromptIsGivenOnce) {
  EXPECT_EQ(Cache({"warm"}).exit_code, kExitUsage);
  EXPECT_EQ(Cache({"warm", "x", "--file", "y"}).exit_code, kExitUsage);
  EXPECT_EQ(Cache({"warm", "x", "--ttl", "soon"}).exit_code, kExitUsage);
  EXPECT_EQ(Cache({"show"}).exit_code, kExitUsage);
  EXPECT_EQ(Cache({"purge"}).exit_code, kExitUsage);
  EXPECT_EQ(RunProgram({"cache"}).exit_code, kExitUsage);
  EXPECT_TRUE(engine_->created().empty());
}

TEST_F(CacheCommandTest, ServersRefusalIsOneSentence) {
  engine_->RefuseWith(absl::ResourceExhaustedError("pins would take 60% of the cache; at most 50% may be pinned"));
  const Result refused = Cache({"pin", "Where is the red lamp?"});
  EXPECT_EQ(refused.exit_code, kExitFailure);
  EXPECT_EQ(refused.err, "error: pins would take 60% of the cache; at most 50% may be pinned\n");
  EXPECT_EQ(refused.out, "");
}

// A name is another person's words: nothing in it reaches the terminal as a command.
TEST_F(CacheCommandTest, NamesCannotSteerTheTerminal) {
  EXPECT_EQ(Cache({"pin", "x", "--id", "lamp", "--name", "\x1b[31mred\n"}).exit_code, kExitOk);
  for (const Result& result : {Cache({"list"}), Cache({"show", "lamp"})}) {
    EXPECT_THAT(result.out, AllOf(HasSubstr("?[31mred?"), Not(HasSubstr("\x1b"))));
  }
}

TEST_F(CacheCommandTest, EveryPageIsListed) {
  for (int i = 0; i < 230; ++i) {
    engine_->CreatePrefix(
        {.id = "p" + std::to_string(i), .scope = Scope::Tenant("default"), .tokens = {TokenId{1}}, .display_name = ""},
        [](const auto&, const auto&) {});
  }
  const Result listed = Cache({"list"});
  EXPECT_EQ(std::ranges::count(listed.out, '\n'), 232);  // with the heading and its line
}

TEST_F(CacheCommandTest, StatusShowsEveryTier) {
  EngineStats stats;
  stats.store.pool_blocks = 1024;
  stats.store.free_blocks = 512;
  stats.store.disk_blocks = 2048;
  stats.queried_tokens = 200;
  stats.hit_tokens = 50;
  engine_->SetStats(stats);
  const Result status = Cache({"status"});
  EXPECT_EQ(status.exit_code, kExitOk);
  EXPECT_THAT(status.out,
              AllOf(HasSubstr("50 of 200 prompt tokens found (25.0%)"), HasSubstr("device  on     16.0 MiB"),
                    HasSubstr("host    none"), HasSubstr("disk    off")));
  EXPECT_THAT(Cache({"status", "--json"}).out, HasSubstr("\"tier\":\"TIER_DISK\""));
}

TEST_F(CacheCommandTest, FlushAndPurge) {
  EXPECT_THAT(Cache({"flush"}).out, HasSubstr("removed 3 blocks"));
  EXPECT_EQ(engine_->flushes(), 1);
  EXPECT_EQ(Cache({"purge", "acme"}).exit_code, kExitOk);
  EXPECT_EQ(engine_->purged_tenants().at(0), "acme");
}

TEST_F(CacheCommandTest, VerifyFailsWhenABlockIsBad) {
  EXPECT_EQ(Cache({"verify"}).exit_code, kExitFailure);  // there is no disk
  engine_->SetVerify(VerifyReport{.blocks = 10, .bytes = 1 << 20, .bad_blocks = 0});
  const Result good = Cache({"verify"});
  EXPECT_EQ(good.exit_code, kExitOk);
  EXPECT_EQ(good.out, "verified 10 blocks, 1.0 MiB: 0 bad\n");
  engine_->SetVerify(VerifyReport{.blocks = 10, .bytes = 1 << 20, .orphan_blocks = 3});
  const Result orphans = Cache({"verify"});
  EXPECT_EQ(orphans.exit_code, kExitOk);
  EXPECT_EQ(orphans.out, "verified 10 blocks, 1.0 MiB: 0 bad, 3 without what goes before\n");
  engine_->SetVerify(VerifyReport{.blocks = 10, .bytes = 1 << 20, .bad_blocks = 2});
  const Result bad = Cache({"verify"});
  EXPECT_EQ(bad.exit_code, kExitFailure);
  EXPECT_THAT(bad.err, HasSubstr("2 of 10 blocks are damaged"));
}

TEST(CacheVerifyTest, StoppedStoreIsReadWithoutAServer) {
  const std::string directory = TempPath("store");
  ASSERT_OK(
      DiskTier::Open({.directory = directory, .capacity_bytes = 256 << 20, .block_bytes = 4096, .fingerprint = {}}));
  const Result good = RunProgram({"cache", "verify", "--dir", directory});
  EXPECT_EQ(good.exit_code, kExitOk) << good.err;
  EXPECT_EQ(good.out, "verified 0 blocks, 0 B: 0 bad\n");
  {
    ASSERT_OK_AND_ASSIGN(
        const auto open,
        DiskTier::Open({.directory = directory, .capacity_bytes = 256 << 20, .block_bytes = 4096, .fingerprint = {}}));
    EXPECT_EQ(RunProgram({"cache", "verify", "--dir", directory}).exit_code, kExitFailure);
  }
  std::filesystem::remove_all(directory);
  const Result missing = RunProgram({"cache", "verify", "--dir", directory});
  EXPECT_EQ(missing.exit_code, kExitFailure);
  EXPECT_THAT(missing.err, AllOf(HasSubstr("there is no cache in " + directory), HasSubstr("no file HEADSTART_CACHE")));
  EXPECT_FALSE(std::filesystem::exists(directory));
  EXPECT_EQ(RunProgram({"cache", "verify", "--dir", ""}).exit_code, kExitUsage);
  EXPECT_EQ(RunProgram({"cache", "verify", "--dir", "x", "--server", "y"}).exit_code, kExitUsage);
}

TEST(CacheWithoutServerTest, SaysHowToStartOne) {
  for (const char* command : {"list", "status", "flush", "verify"}) {
    const Result result = RunProgram({"cache", command, "--server", "127.0.0.1:1"});
    EXPECT_EQ(result.exit_code, kExitFailure);
    EXPECT_THAT(result.err, HasSubstr("headstart serve"));
  }
}

}  // namespace
}  // namespace headstart::testing
