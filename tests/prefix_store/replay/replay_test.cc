#include "prefix_store/replay/replay.h"

#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "prefix_store/replay/belady.h"
#include "prefix_store/replay/hit_ratio_plot.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kBlockTokens = 512;

Trace Make(const std::vector<std::vector<int32_t>>& prompts) {
  Trace trace{.block_tokens = kBlockTokens, .requests = {}};
  for (const auto& blocks : prompts) {
    trace.requests.push_back({.at_ms = std::ssize(trace.requests) * 1000,
                              .input_tokens = std::ssize(blocks) * kBlockTokens - 12,
                              .output_tokens = 1,
                              .blocks = blocks});
    for (const int32_t block : blocks) trace.distinct_blocks = std::max(trace.distinct_blocks, block + 1);
  }
  return trace;
}

ReplayResult Found(const Trace& trace, int64_t capacity, EvictionPolicyKind policy = EvictionPolicyKind::kLru) {
  auto result = Replay(trace, {.capacity_blocks = capacity, .policy = policy}, [] { return 0; });
  EXPECT_OK(result);
  return result.ok() ? *result : ReplayResult{};
}

TEST(Replay, APromptAgainIsAHitToItsLastBlock) {
  const ReplayResult result = Found(Make({{0, 1, 2}, {0, 1, 2}}), 3);
  EXPECT_EQ(result.blocks, 6);
  ASSERT_EQ(result.hits.size(), 1);
  EXPECT_EQ(result.hits[0].tier, "device");
  EXPECT_EQ(result.hits[0].blocks, 3);
  EXPECT_EQ(result.hits[0].tokens, 3 * kBlockTokens - 12);
  EXPECT_EQ(result.evicted_blocks, 0);
  EXPECT_DOUBLE_EQ(result.block_hit_ratio(), 0.5);
}

TEST(Replay, TheCacheHoldsAsManyBlocksAsItSays) {
  EXPECT_EQ(Found(Make({{0, 1}, {2, 3}, {0, 1}}), 4).hits[0].blocks, 2);
  EXPECT_EQ(Found(Make({{0, 1}, {2, 3}, {0, 1}}), 3).hits[0].blocks, 1) << "the deepest of the oldest went";
  EXPECT_EQ(Found(Make({{0, 1}, {2, 3}, {0, 1}}), 2).hits[0].blocks, 0);
}

TEST(Replay, OfAPromptLargerThanTheCacheTheBeginningStays) {
  const ReplayResult result = Found(Make({{0, 1, 2, 3}, {0, 1, 2, 3}}), 2);
  EXPECT_EQ(result.hits[0].blocks, 2);
  EXPECT_EQ(result.blocks, 8);
}

TEST(Replay, NothingAskedForIsNothingFound) {
  EXPECT_EQ(Found(Trace{.block_tokens = kBlockTokens, .requests = {}}, 1).block_hit_ratio(), 0);
  EXPECT_EQ(Found(Make({{}, {0}, {}}), 1).blocks, 1);
}

TEST(Replay, TimesEachCall) {
  int64_t now = 0;
  const auto result = Replay(Make({{0}, {1}, {0}}), {.capacity_blocks = 4}, [&] { return now += 7; });
  ASSERT_OK(result);
  for (const OperationTime& time : {result->acquire, result->publish, result->release}) {
    EXPECT_EQ(time.calls, 3);
    EXPECT_EQ(time.mean_ns(), 7);
  }
}

TEST(Replay, RefusesCapacitiesThatCannotBe) {
  const Trace trace = Make({{0}});
  for (const int64_t capacity : {int64_t{0}, int64_t{-5}, int64_t{1} << 40}) {
    EXPECT_THAT(Replay(trace, {.capacity_blocks = capacity}, [] { return 0; }),
                StatusIs(absl::StatusCode::kInvalidArgument, ::testing::Not(::testing::IsEmpty())));
  }
}

TEST(Belady, KeepsWhatIsNeededSoonest) {
  // With room for two: {0, 1} comes back before {0, 2} and {3}.
  const Trace trace = Make({{0, 1}, {0, 2}, {3}, {0, 1}, {0, 2}});
  EXPECT_EQ(BeladyBound(trace, 2).hit_blocks, 1 + 2 + 1);
  EXPECT_EQ(BeladyBound(trace, 3).hit_blocks, 1 + 2 + 2);
  EXPECT_EQ(BeladyBound(trace, 1).hit_blocks, 1 + 1 + 1);
}

// Random conversations: whatever the policy and the room, the bound holds, and what is held all of is reached by all.
TEST(Belady, NoPolicyFindsMore) {
  std::mt19937 random(3);
  std::vector<std::vector<int32_t>> prompts;
  std::vector<std::vector<int32_t>> chats(30);
  int32_t next = 0;
  for (int i = 0; i < 600; ++i) {
    auto& chat = chats[random() % (1 + random() % chats.size())];
    if (random() % 8 == 0) chat.clear();
    const int added = 1 + random() % 4;
    for (int block = 0; block < added; ++block) chat.push_back(next++);
    prompts.push_back(chat);
  }
  const Trace trace = Make(prompts);
  for (const int64_t capacity : {1, 5, 20, 50, 100, 200, 5000}) {
    const double bound = BeladyBound(trace, capacity).block_hit_ratio;
    for (const auto policy : {EvictionPolicyKind::kLru, EvictionPolicyKind::kLfu, EvictionPolicyKind::kHitDensity}) {
      const double ratio = Found(trace, capacity, policy).block_hit_ratio();
      EXPECT_LE(ratio, bound) << EvictionPolicyName(policy) << " with " << capacity;
      if (capacity == 5000) {
        EXPECT_EQ(ratio, bound) << EvictionPolicyName(policy);
      }
    }
  }
}

TEST(HitRatioPlot, DrawsEachCurve) {
  const std::vector<HitRatioCurve> curves = {{"lru", {{10, 0.1}, {1000, 0.4}}}, {"a<b", {{10, 0.2}}}, {"none", {}}};
  const std::string svg = HitRatioPlot("Hits & misses", curves);
  EXPECT_THAT(svg, HasSubstr("Hits &amp; misses"));
  EXPECT_THAT(svg, HasSubstr("a&lt;b"));
  EXPECT_THAT(svg, HasSubstr(">1000<"));
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(HitRatioPlot("", {}).find("inf"), std::string::npos);
}

TEST(Replay, LowerTiersKeepWhatTheDeviceCannot) {
  std::vector<std::vector<int32_t>> requests;
  for (int32_t round = 0; round < 2; ++round) {
    for (int32_t i = 0; i < 20; ++i) requests.push_back({100 * i, 100 * i + 1, 100 * i + 2});
  }
  const auto result =
      Replay(Make(requests), {.capacity_blocks = 6, .host_blocks = 12, .disk_blocks = 1000}, [] { return 0; });
  ASSERT_OK(result);
  ASSERT_EQ(result->hits.size(), 3);
  EXPECT_EQ(result->block_hit_ratio(), 0.5) << "the second round finds all of the first";
  EXPECT_GT(result->hits[2].blocks, 20);
  EXPECT_THAT(Replay(Make(requests), {.capacity_blocks = 6, .disk_blocks = 10}, [] { return 0; }),
              StatusIs(absl::StatusCode::kInvalidArgument, ::testing::HasSubstr("host memory")));
}

}  // namespace
}  // namespace headstart::testing
