// Sizes, addresses and tables, as people write and read them.

#include "gateway/config/byte_size.h"
#include "gateway/server/listen_address.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

using ::testing::HasSubstr;

TEST(ByteSizeTest, ReadsUnits) {
  const std::vector<std::pair<std::string, int64_t>> cases = {{"0", 0},
                                                              {"4096", 4096},
                                                              {"1B", 1},
                                                              {"2KiB", 2048},
                                                              {"512 MiB", 512LL << 20},
                                                              {"2GiB", 2LL << 30},
                                                              {"1.5gib", 3LL << 29},
                                                              {"1TiB", 1LL << 40},
                                                              {"3MB", 3'000'000},
                                                              {"1GB", 1'000'000'000}};
  for (const auto& [text, bytes] : cases) {
    ASSERT_OK_AND_ASSIGN(const int64_t parsed, ParseByteSize(text));
    EXPECT_EQ(parsed, bytes) << text;
  }
}

TEST(ByteSizeTest, SaysWhatIsWrong) {
  for (const std::string text :
       {"", "GiB", "-1", "1.5", "2 Gi", "1e30GiB", "99999999999TiB", "nan", "nanGiB", "inf", "infGiB", "1GiBx"}) {
    EXPECT_THAT(ParseByteSize(text), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(text))) << text;
  }
}

TEST(ByteSizeTest, WritesWhatItReads) {
  for (const int64_t bytes : {0LL, 1500LL, 1LL << 30, 3LL << 20, 16LL << 10}) {
    ASSERT_OK_AND_ASSIGN(const int64_t back, ParseByteSize(FormatByteSize(bytes)));
    EXPECT_EQ(back, bytes);
  }
  EXPECT_EQ(ReadableByteSize(269'600'000), "257.1 MiB");
}

TEST(ListenAddressTest, KnowsWhoCanReachIt) {
  const std::vector<std::pair<std::string, bool>> cases = {
      {"127.0.0.1:8700", true}, {"127.9.9.9:1", true},  {"localhost:0", true},
      {"[::1]:8700", true},     {"unix:/tmp/x", true},  {"0.0.0.0:8700", false},
      {"[::]:8700", false},     {"10.0.0.1:80", false}, {"example.org:80", false}};
  for (const auto& [text, loopback] : cases) {
    ASSERT_OK_AND_ASSIGN(const ListenAddress address, ParseListenAddress(text));
    EXPECT_EQ(address.IsLoopback(), loopback) << text;
    EXPECT_EQ(address.ToString(), text);
  }
}

TEST(ListenAddressTest, RefusesWhatIsNone) {
  for (const std::string text : {"", "8700", ":8700", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536",
                                 "127.0.0.1:-1", "::1:8700", "[]:1", "unix:", "127.0.0.1:80 "}) {
    EXPECT_THAT(ParseListenAddress(text), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("write host:port")))
        << text;
  }
}

// A host is loopback by what it is, not by how it is spelled at its beginning.
TEST(ListenAddressTest, HostThatDoesNotExistIsNamedForAnyPort) {
  for (const std::string text : {"no.such.host.invalid:0", "no.such.host.invalid:8700"}) {
    ASSERT_OK_AND_ASSIGN(const ListenAddress address, ParseListenAddress(text));
    EXPECT_THAT(CheckCanListen(address),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\"no.such.host.invalid\" cannot be resolved")));
  }
}

TEST(ListenAddressTest, NameThatOnlyLooksLocalIsNotLoopback) {
  ASSERT_OK_AND_ASSIGN(const ListenAddress address, ParseListenAddress("127.example.org:80"));
  EXPECT_FALSE(address.IsLoopback());
}

}  // namespace
}  // namespace headstart::testing
