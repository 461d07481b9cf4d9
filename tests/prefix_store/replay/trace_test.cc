#include "prefix_store/replay/trace.h"

#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kMooncake[] = R"({"timestamp": 3000, "input_length": 1100, "output_length": 5, "hash_ids": [7, 9, 12]})"
                             "\n\n"
                             R"({"timestamp": 0, "input_length": 600, "output_length": 6, "hash_ids": [7, 8]})"
                             "\r\n";

constexpr char kWeka[] = R"({"id": "x", "block_size": 64, "hash_id_scope": "local", "requests": [
    {"t": 0.0, "type": "s", "in": 130, "out": 3, "hash_ids": [1, 2]},
    {"t": 1.5, "type": "s", "in": 200, "out": 4, "hash_ids": [1, 2, 5]}]})";

TEST(MooncakeTrace, IsReadInOrderOfTime) {
  ASSERT_OK_AND_ASSIGN(const Trace trace, ParseTrace(kMooncake));
  EXPECT_EQ(trace.block_tokens, 512);
  EXPECT_EQ(trace.distinct_blocks, 4);
  ASSERT_EQ(trace.requests.size(), 2);
  EXPECT_EQ(trace.requests[0].at_ms, 0);
  EXPECT_EQ(trace.requests[0].input_tokens, 600);
  EXPECT_EQ(trace.requests[0].output_tokens, 6);
  EXPECT_THAT(trace.requests[1].blocks, ElementsAre(trace.requests[0].blocks[0], 1, 2));
  EXPECT_EQ(trace.requests[1].TokensIn(2, 512), 1024);
  EXPECT_EQ(trace.requests[1].TokensIn(3, 512), 1100) << "the last block is not full";
}

TEST(WekaSession, IsReadWithItsOwnBlockSizeAndSeconds) {
  ASSERT_OK_AND_ASSIGN(const Trace trace, ParseTrace(kWeka));
  EXPECT_EQ(trace.block_tokens, 64);
  ASSERT_EQ(trace.requests.size(), 2);
  EXPECT_EQ(trace.requests[1].at_ms, 1500);
  EXPECT_THAT(trace.requests[1].blocks, ElementsAre(0, 1, 2));
}

TEST(MergeTraces, SharesNoBlockAndOrdersByTime) {
  ASSERT_OK_AND_ASSIGN(const Trace session, ParseTrace(kWeka));
  ASSERT_OK_AND_ASSIGN(const Trace both, MergeTraces({session, session}));
  EXPECT_EQ(both.distinct_blocks, 6);
  ASSERT_EQ(both.requests.size(), 4);
  EXPECT_EQ(both.requests[1].at_ms, 0);
  EXPECT_THAT(both.requests[3].blocks, ElementsAre(3, 4, 5));
}

TEST(MergeTraces, RefusesBlocksOfTwoSizesAndNoTrace) {
  ASSERT_OK_AND_ASSIGN(const Trace weka, ParseTrace(kWeka));
  ASSERT_OK_AND_ASSIGN(const Trace mooncake, ParseTrace(kMooncake));
  EXPECT_THAT(MergeTraces({weka, mooncake}),
              StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("64"), HasSubstr("512"))));
  EXPECT_THAT(MergeTraces({}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no trace")));
}

struct Wrong {
  const char* text;
  const char* says;
};

class WrongTrace : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongTrace, IsRefusedNamingThePlace) {
  EXPECT_THAT(ParseTrace(GetParam().text), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(GetParam().says)));
}

INSTANTIATE_TEST_SUITE_P(
    Traces, WrongTrace,
    ::testing::Values(
        Wrong{"{", "line 1 is not a JSON object"}, Wrong{"\n[]", "line 2 is not a JSON object"},
        Wrong{R"({"timestamp": 0, "input_length": 1, "output_length": 1})", "\"hash_ids\" is missing"},
        Wrong{R"({"timestamp": 0, "input_length": 1, "output_length": 1, "hash_ids": [1.5]})", "1.5, not an integer"},
        Wrong{R"({"timestamp": 0, "input_length": 1, "output_length": 1, "hash_ids": ["x"]})", "not an integer"},
        Wrong{R"({"timestamp": 0, "input_length": -1, "output_length": 1, "hash_ids": []})", "\"input_length\" is -1"},
        Wrong{R"({"timestamp": 1e300, "input_length": 1, "output_length": 1, "hash_ids": []})",
              "\"timestamp\" is 1e+300"},
        Wrong{R"({"input_length": 1, "output_length": 1, "hash_ids": []})", "line 1: \"timestamp\" is missing"},
        Wrong{R"({"block_size": 0, "requests": []})", "\"block_size\" is 0"},
        Wrong{R"({"block_size": 64})", "\"requests\" is missing"},
        Wrong{R"({"block_size": 64, "requests": [{"t": 0, "in": 1, "out": 1, "hash_ids": []}, 7]})",
              "request 1 is not a JSON object"}));

TEST(ReadTrace, NamesTheFile) {
  EXPECT_THAT(ReadTrace({{"no/such/file"}}), StatusIs(absl::StatusCode::kNotFound, HasSubstr("no/such/file")));
  const std::string path = ::testing::TempDir() + "/wrong_trace";
  std::ofstream(path) << "{\n";
  EXPECT_THAT(ReadTrace({{path}}),
              StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr(path), HasSubstr("line 1"))));
}

TEST(ReadTrace, EmptyTextIsATraceOfNothing) {
  ASSERT_OK_AND_ASSIGN(const Trace trace, ParseTrace(""));
  EXPECT_TRUE(trace.requests.empty());
}

}  // namespace
}  // namespace headstart::testing
