// The store's LRU against a curve that was computed by another program from the same trace.

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "prefix_store/replay/replay.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

constexpr char kTraces[] = "../shared/data/traces/";

// The curve is written to six digits.
constexpr double kLastDigit = 0.5e-6;

struct ReferencePoint {
  int64_t capacity_blocks;
  double block_hit_ratio;
  double token_hit_ratio;
};

std::vector<ReferencePoint> Reference(const std::string& policy, const Trace& trace) {
  std::ifstream file(std::string(kTraces) + "reference_hit_ratios.csv");
  std::vector<ReferencePoint> points;
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> fields = absl::StrSplit(line, ',');
    if (fields.at(1) != policy) continue;
    const int64_t capacity = fields[2] == "inf" ? trace.distinct_blocks : std::stoll(fields[2]);
    points.push_back({capacity, std::stod(fields.at(4)), std::stod(fields.at(5))});
  }
  return points;
}

class ReferenceCurve : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string path = std::string(kTraces) + "conversation_trace.jsonl";
    if (!std::ifstream(path)) GTEST_SKIP() << path << " is not there; it is no part of the repository";
    auto trace = ReadTrace({{path}});
    ASSERT_OK(trace);
    trace_ = *std::move(trace);
  }

  void ExpectEqual(const std::string& name, EvictionPolicyKind policy) {
    const auto points = Reference(name, trace_);
    ASSERT_FALSE(points.empty());
    for (const ReferencePoint& point : points) {
      auto result = Replay(trace_, {.capacity_blocks = point.capacity_blocks, .policy = policy}, [] { return 0; });
      ASSERT_OK(result);
      EXPECT_NEAR(result->block_hit_ratio(), point.block_hit_ratio, kLastDigit) << point.capacity_blocks;
      EXPECT_NEAR(result->token_hit_ratio(), point.token_hit_ratio, kLastDigit) << point.capacity_blocks;
    }
  }

  Trace trace_;
};

TEST_F(ReferenceCurve, LruIsTheReferenceAtEveryCapacity) { ExpectEqual("lru", EvictionPolicyKind::kLru); }

}  // namespace
}  // namespace headstart::testing
