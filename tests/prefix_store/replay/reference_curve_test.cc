// The store's LRU and LFU against curves that another program computed from the same trace, and what the default policy
// is held to beside them.

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "prefix_store/replay/belady.h"
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

  double HitRatio(int64_t capacity, EvictionPolicyKind policy) {
    auto result = Replay(trace_, {.capacity_blocks = capacity, .policy = policy}, [] { return 0; });
    EXPECT_OK(result);
    return result.ok() ? result->block_hit_ratio() : 0;
  }

  void ExpectEqual(const std::string& name, EvictionPolicyKind policy, int64_t from_capacity, double tolerance) {
    const auto points = Reference(name, trace_);
    ASSERT_FALSE(points.empty());
    for (const ReferencePoint& point : points) {
      if (point.capacity_blocks < from_capacity) continue;
      auto result = Replay(trace_, {.capacity_blocks = point.capacity_blocks, .policy = policy}, [] { return 0; });
      ASSERT_OK(result);
      EXPECT_NEAR(result->block_hit_ratio(), point.block_hit_ratio, tolerance) << point.capacity_blocks;
      EXPECT_NEAR(result->token_hit_ratio(), point.token_hit_ratio, tolerance) << point.capacity_blocks;
    }
  }

  Trace trace_;
};

TEST_F(ReferenceCurve, LruIsTheReferenceAtEveryCapacity) {
  ExpectEqual("lru", EvictionPolicyKind::kLru, 1, kLastDigit);
}

// The reference trims after a request, and may so take the request's own new blocks, which have no hits yet; the store
// makes room before it and takes others. That shows where few requests fit, and below the fourth digit elsewhere.
TEST_F(ReferenceCurve, LfuIsTheReferenceWhereManyRequestsFit) {
  ExpectEqual("lfu", EvictionPolicyKind::kLfu, 1000, 1e-4);
}

constexpr double kMostUnderLru = 0.005;

TEST_F(ReferenceCurve, TheDefaultIsNeverMuchUnderLru) {
  for (const ReferencePoint& point : Reference("lru", trace_)) {
    EXPECT_GE(HitRatio(point.capacity_blocks, EvictionPolicyKind::kHitDensity),
              point.block_hit_ratio * (1 - kMostUnderLru))
        << point.capacity_blocks;
  }
}

// By hand-made policies that know a conversation's turns: .076, .160 and .218.
TEST_F(ReferenceCurve, TheDefaultIsFarOverLruWhereChoiceMatters) {
  EXPECT_GE(HitRatio(1000, EvictionPolicyKind::kHitDensity), 0.074);
  EXPECT_GE(HitRatio(5859, EvictionPolicyKind::kHitDensity), 0.175);
  EXPECT_GE(HitRatio(10000, EvictionPolicyKind::kHitDensity), 0.228);
}

TEST_F(ReferenceCurve, BeladysBoundIsWhatOthersFound) {
  EXPECT_NEAR(BeladyBound(trace_, 1000).block_hit_ratio, 0.1907, 0.5e-4);
  EXPECT_NEAR(BeladyBound(trace_, 5859).block_hit_ratio, 0.3532, 0.5e-4);
  EXPECT_NEAR(BeladyBound(trace_, 10000).block_hit_ratio, 0.3664, 0.5e-4);
}

}  // namespace
}  // namespace headstart::testing
