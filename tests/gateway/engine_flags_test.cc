// The engine's flags: what they set, and which do not go together.

#include "gateway/config/engine_flags.h"

#include "CLI/CLI.hpp"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// The options after those words, or what was wrong with them.
// What the machine has, for all that these tests know.
constexpr int64_t kMemoryBytes = int64_t{8} << 30;

absl::StatusOr<EngineOptions> Parse(std::vector<std::string> words) {
  CLI::App app;
  EngineOptions options;
  AddEngineFlags(app, options);
  std::ranges::reverse(words);  // as CLI11 wants a vector
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    return absl::InvalidArgumentError(error.what());
  }
  if (auto status = CheckEngineFlags(options, kMemoryBytes); !status.ok()) return status;
  return options;
}

TEST(EngineFlagsTest, WithoutFlagsThereAreNoLowerTiers) {
  ASSERT_OK_AND_ASSIGN(const EngineOptions options, Parse({}));
  EXPECT_EQ(options.host_cache_bytes, 0);
  EXPECT_EQ(options.disk_cache_directory, "");
  EXPECT_EQ(options.disk_cache_bytes, 0);
}

TEST(EngineFlagsTest, TiersAreSet) {
  ASSERT_OK_AND_ASSIGN(const EngineOptions options,
                       Parse({"--host-cache-size", "2GiB", "--disk-cache-dir", "/cache", "--disk-cache-size", "64GiB",
                              "--io-threads", "3", "--pinned-share", "25", "--eviction-policy", "lru"}));
  EXPECT_EQ(options.host_cache_bytes, 2LL << 30);
  EXPECT_EQ(options.disk_cache_directory, "/cache");
  EXPECT_EQ(options.disk_cache_bytes, 64LL << 30);
  EXPECT_EQ(options.io_threads, 3);
  EXPECT_EQ(options.pinned_percent, 25);
  EXPECT_EQ(options.eviction_policy, EvictionPolicyKind::kLru);
}

TEST(EngineFlagsTest, DirectoryAndSizeGoTogether) {
  EXPECT_THAT(Parse({"--disk-cache-dir", "/cache"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("--disk-cache-dir"), HasSubstr("/cache"), HasSubstr("--disk-cache-size"))));
  EXPECT_THAT(Parse({"--disk-cache-size", "1GiB"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("--disk-cache-size is 1GiB"), HasSubstr("--disk-cache-dir"))));
  EXPECT_OK(Parse({"--host-cache-size", "1GiB"}));
}

TEST(EngineFlagsTest, MoreMemoryThanThereIsIsRefusedWithTheNumbers) {
  EXPECT_OK(Parse({"--kv-cache-size", "5GiB", "--host-cache-size", "3GiB"}));
  EXPECT_THAT(
      Parse({"--kv-cache-size", "5GiB", "--host-cache-size", "4GiB"}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("--kv-cache-size 5GiB"), HasSubstr("--host-cache-size 4GiB"), HasSubstr("8.0 GiB"))));
  EXPECT_FALSE(Parse({"--kv-cache-size", "8388607TiB", "--host-cache-size", "8388607TiB"}).ok()) << "no overflow";
  EXPECT_GT(MachineMemoryBytes(), 1 << 20);
}

TEST(EngineFlagsTest, ValuesOutOfRangeAreNamed) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"--host-cache-size", "much"}, {"--disk-cache-size", "-1"}, {"--io-threads", "0"},
      {"--pinned-share", "101"},     {"--pinned-share", "-1"},    {"--eviction-policy", "fifo"}};
  for (const auto& [flag, value] : cases) {
    EXPECT_THAT(Parse({flag + "=" + value}),
                StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr(flag), HasSubstr(value))));
  }
}

}  // namespace
}  // namespace headstart::testing
