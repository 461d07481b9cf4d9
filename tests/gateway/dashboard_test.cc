// What the dashboard is told: sums, intervals, quantiles, and who may see what.

#include "gateway/dashboard/activity.h"
#include "gateway/dashboard/dashboard_json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace headstart {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class ActivityTest : public ::testing::Test {
 protected:
  ActivityTest() : activity_({.slowest = 3, .tenants = 2, .now = [this] { return now_; }}) {}

  static GenerationUsage Usage(int64_t cached, int64_t computed) {
    GenerationUsage usage;
    usage.prompt_tokens = cached + computed;
    usage.cached_device_tokens = cached;
    usage.computed_prompt_tokens = computed;
    usage.completion_tokens = 1;
    usage.miss_reason = cached > 0 ? MissReason::kDiverged : MissReason::kNew;
    return usage;
  }
  void Finish(const std::string& tenant, const GenerationUsage& usage, absl::Duration ttft = absl::Milliseconds(5),
              const std::string& id = "r") {
    RequestRecord record;
    record.request_id = id;
    record.tenant = tenant;
    record.usage = usage;
    record.timings.ttft = ttft;
    record.end = now_;
    activity_.OnRequestFinished(record);
  }
  void Bill(const std::string& tenant, int64_t cost, int64_t saved) {
    v1::UsageEntry entry;
    entry.set_tenant(tenant);
    entry.mutable_charge()->set_currency("EUR");
    v1::UsageTotals added;
    added.mutable_charge()->set_cost_nanos(cost);
    added.mutable_charge()->set_saved_nanos(saved);
    activity_.OnBilled(entry, added);
  }

  absl::Time now_ = absl::FromUnixSeconds(1'800'000'000);
  Activity activity_;
};

TEST_F(ActivityTest, SumsByIntervalTenantAndReason) {
  Finish("a", Usage(90, 10));
  now_ += absl::Seconds(25);
  Finish("b", Usage(0, 40));
  Bill("b", 70, 30);
  const ActivitySnapshot seen = activity_.Snapshot();
  EXPECT_EQ(seen.total.requests, 2);
  EXPECT_EQ(seen.total.prompt_tokens(), 140);
  EXPECT_EQ(seen.total.cached_tokens(), 90);
  EXPECT_EQ(seen.total.saved_nanos, 30);
  EXPECT_EQ(seen.currency, "EUR");
  ASSERT_THAT(seen.intervals, SizeIs(3));
  EXPECT_EQ(seen.intervals[0].sums.prompt_tokens(), 100);
  EXPECT_EQ(seen.intervals[1].sums.requests, 0);
  EXPECT_EQ(seen.intervals[2].sums.cost_nanos, 70);
  EXPECT_EQ(seen.tenants.at("b").computed_tokens, 40);
  EXPECT_EQ(seen.misses.at(MissReason::kNew).computed_tokens, 40);
  EXPECT_EQ(seen.misses.at(MissReason::kDiverged).requests, 1);
  EXPECT_EQ(activity_.SumsOf("a").cached_tokens(), 90);
  EXPECT_EQ(activity_.SumsOf("nobody").requests, 0);
}

TEST_F(ActivityTest, AnHourIsKeptAndADayOfSilenceIsCheap) {
  for (int i = 0; i < 500; ++i) {
    Finish("a", Usage(0, 1));
    now_ += absl::Seconds(10);
  }
  EXPECT_THAT(activity_.Snapshot().intervals, SizeIs(360));
  EXPECT_EQ(activity_.Snapshot().total.requests, 500);
  now_ += absl::Hours(1000);
  EXPECT_THAT(activity_.Snapshot().intervals, SizeIs(1));
}

TEST_F(ActivityTest, AClockSetBackLosesNothing) {
  Finish("a", Usage(0, 1));
  now_ -= absl::Hours(5);
  Finish("a", Usage(0, 1));
  const auto seen = activity_.Snapshot();
  ASSERT_THAT(seen.intervals, SizeIs(1));
  EXPECT_EQ(seen.intervals[0].sums.requests, 2);
}

TEST_F(ActivityTest, ColdAndWarmAreKeptApart) {
  for (int i = 0; i < 9; ++i) Finish("a", Usage(90, 10), absl::Milliseconds(10));
  for (int i = 0; i < 9; ++i) Finish("a", Usage(5, 95), absl::Milliseconds(1000));
  Finish("a", Usage(30, 70), absl::Milliseconds(100));  // neither
  const ActivityInterval interval = activity_.Snapshot().intervals.back();
  EXPECT_EQ(interval.ttft_warm.count(), 9);
  EXPECT_EQ(interval.ttft_cold.count(), 9);
  EXPECT_NEAR(absl::ToDoubleMilliseconds(interval.ttft_warm.Quantile(0.5)), 10, 1.3);
  EXPECT_NEAR(absl::ToDoubleMilliseconds(interval.ttft_cold.Quantile(0.95)), 1000, 130);
}

TEST_F(ActivityTest, KeepsTheSlowestOfTheLastHour) {
  for (int i = 1; i <= 5; ++i) Finish("a", Usage(0, 9), absl::Milliseconds(i % 2 == 0 ? i : 10 * i), std::to_string(i));
  const auto ids = [&] {
    std::vector<std::string> result;
    for (const SlowRequest& slow : activity_.Snapshot().slowest) result.push_back(slow.request_id);
    return result;
  };
  EXPECT_THAT(ids(), ElementsAre("5", "3", "1"));
  now_ += absl::Minutes(61);
  EXPECT_THAT(ids(), IsEmpty());
}

TEST_F(ActivityTest, TenantsBeyondTheCapAreTogether) {
  for (const char* tenant : {"a", "b", "c", "d", "a"}) Finish(tenant, Usage(0, 1));
  const auto tenants = activity_.Snapshot().tenants;
  EXPECT_EQ(tenants.at("a").requests, 2);
  EXPECT_EQ(tenants.at(kOtherTenants).requests, 2);
}

TEST_F(ActivityTest, WhatDidNoWorkIsNotCounted) {
  Finish("a", GenerationUsage{});
  EXPECT_EQ(activity_.Snapshot().total.requests, 0);
}

TEST_F(ActivityTest, OperatorsSeeEverythingWithExactMoney) {
  Finish("a", Usage(90, 10), absl::Milliseconds(10), "id-1");
  Bill("a", 9'007'199'254'740'993, -5);  // more than a double holds
  v1::GetStatusResponse status;
  status.mutable_model()->set_name("demo");
  v1::TierStatus& tier = *status.add_tiers();
  tier.set_tier(v1::TIER_DEVICE);
  tier.set_configured(true);
  tier.set_used_bytes(5);
  status.add_tiers()->set_tier(v1::TIER_DISK);
  const auto json = nlohmann::json::parse(OperatorData(activity_.Snapshot(), status, now_));
  EXPECT_EQ(json["role"], "operator");
  EXPECT_EQ(json["total"]["cost_nanos"], "9007199254740993");
  EXPECT_EQ(json["total"]["saved_nanos"], "-5");
  EXPECT_EQ(json["now"]["cached_tokens"], 90);
  ASSERT_THAT(json["tiers"], SizeIs(1));
  EXPECT_EQ(json["tiers"][0]["name"], "device");
  EXPECT_EQ(json["slowest"][0]["request_id"], "id-1");
  EXPECT_EQ(json["misses"][0]["reason"], "diverged");
  EXPECT_EQ(json["series"]["device"], nlohmann::json::array({90}));
  EXPECT_TRUE(json["series"]["ttft_cold_ms"][0].is_null());
}

TEST_F(ActivityTest, TenantsSeeThemselves) {
  Finish("a", Usage(90, 10));
  Finish("secret", Usage(7777, 3));
  const std::string text = TenantData("a", activity_.SumsOf("a"), "EUR", "demo", now_, now_);
  EXPECT_THAT(text, Not(HasSubstr("secret")));
  EXPECT_THAT(text, Not(HasSubstr("7777")));
  EXPECT_EQ(nlohmann::json::parse(text)["total"]["cached_tokens"], 90);
}

TEST(InsightJsonTest, RanksAcrossTenantsAndSurvivesAnyText) {
  TenantInsight a{.tenant = "a", .misses = {}, .hottest = {{.requests = 3, .tokens = 10, .text = "\xff<script>"}}};
  TenantInsight b{.tenant = "b", .misses = {}, .hottest = {{.requests = 9, .tokens = 10, .text = "x"}}};
  v1::MissExplanation& miss = *b.misses.add_explanations();
  miss.set_reason(v1::MISS_REASON_DIVERGED);
  miss.set_computed_tokens(5);
  const auto json = nlohmann::json::parse(InsightJson({a, b}));
  EXPECT_EQ(json["hottest"][0]["tenant"], "b");
  EXPECT_EQ(json["hottest"][1]["text"], "\xEF\xBF\xBD<script>");
  EXPECT_EQ(json["misses"][0]["reason"], "diverged");
}

TEST(TimeHistogramTest, QuantilesAreWithinABucket) {
  TimeHistogram times;
  EXPECT_EQ(times.Quantile(0.5), absl::ZeroDuration());
  for (int i = 1; i <= 1000; ++i) times.Add(absl::Milliseconds(i));
  EXPECT_NEAR(absl::ToDoubleMilliseconds(times.Quantile(0.5)), 500, 65);
  EXPECT_NEAR(absl::ToDoubleMilliseconds(times.Quantile(0.99)), 990, 130);
  TimeHistogram extremes;
  extremes.Add(-absl::Seconds(1));
  extremes.Add(absl::Hours(9));
  EXPECT_EQ(extremes.count(), 2);
  EXPECT_LT(extremes.Quantile(0), absl::Milliseconds(1));
  EXPECT_GT(extremes.Quantile(1), absl::Minutes(9));
}

}  // namespace
}  // namespace headstart
