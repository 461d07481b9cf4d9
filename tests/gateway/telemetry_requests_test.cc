// What a page says of requests: the sums are those of the account, tenants are bounded, times fall into their ranges.

#include <limits>
#include <map>
#include <sstream>
#include <thread>

#include "fmt/format.h"
#include "gateway/telemetry/metrics_page.h"
#include "gateway/telemetry/request_metrics.h"
#include "gateway/telemetry/text_format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "prometheus/text_serializer.h"

namespace headstart::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The samples of a page: "name{labels}" to value.
std::map<std::string, double> SamplesOf(const std::string& page) {
  std::map<std::string, double> samples;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    const size_t space = line.rfind(' ');
    if (line.starts_with('#') || space == std::string::npos) continue;
    samples[line.substr(0, space)] = std::stod(line.substr(space + 1));
  }
  return samples;
}

RequestRecord Record(const std::string& tenant) {
  RequestRecord record;
  record.tenant = tenant;
  record.usage = {.prompt_tokens = 100,
                  .cached_device_tokens = 40,
                  .cached_host_tokens = 20,
                  .cached_disk_tokens = 10,
                  .computed_prompt_tokens = 30,
                  .cache_write_tokens = 35,
                  .completion_tokens = 5,
                  .recomputed_tokens = 7,
                  .miss_reason = MissReason::kDiverged};
  record.timings = {.queue = absl::Milliseconds(3),
                    .load = absl::Milliseconds(2),
                    .prefill = absl::Milliseconds(12),
                    .ttft = absl::Milliseconds(15),
                    .decode = absl::Milliseconds(80),
                    .total = absl::Milliseconds(95)};
  record.tokenize = absl::Microseconds(300);
  record.token_gaps.Observe(0.02, 3);
  record.token_gaps.Observe(0.2);
  return record;
}

v1::UsageTotals Added(int64_t tokens) {
  v1::UsageTotals added;
  added.mutable_usage()->mutable_cached_by_tier()->set_device(tokens);
  added.mutable_usage()->mutable_cached_by_tier()->set_host(2 * tokens);
  added.mutable_usage()->mutable_cached_by_tier()->set_disk(3 * tokens);
  added.mutable_usage()->mutable_cached_by_tier()->set_remote(4 * tokens);
  added.mutable_usage()->set_computed_prompt_tokens(5 * tokens);
  added.mutable_usage()->set_completion_tokens(6 * tokens);
  added.mutable_usage()->set_cache_write_tokens(7 * tokens);
  return added;
}

class RequestMetricsTest : public ::testing::Test {
 protected:
  std::map<std::string, double> Samples() const { return SamplesOf(MetricsPage({&metrics_}).Render()); }
  void Bill(const std::string& tenant, const v1::UsageTotals& added) {
    v1::UsageEntry entry;
    entry.set_tenant(tenant);
    metrics_.OnBilled(entry, added);
  }

  RequestMetrics metrics_{{.max_tenants = 3}};
};

TEST_F(RequestMetricsTest, TokensAreThoseOfTheAccount) {
  metrics_.OnRequestFinished(Record("acme"));  // of which the account will tell
  Bill("acme", Added(1));
  Bill("acme", Added(10));
  const auto samples = Samples();
  const std::map<std::string, double> expected = {
      {"device", 11}, {"host", 22}, {"disk", 33}, {"remote", 44}, {"computed", 55}};
  for (const auto& [source, tokens] : expected) {
    EXPECT_EQ(samples.at(fmt::format("headstart_prompt_tokens_total{{tenant=\"acme\",source=\"{}\"}}", source)),
              tokens);
  }
  EXPECT_EQ(samples.at("headstart_completion_tokens_total{tenant=\"acme\"}"), 66);
  EXPECT_EQ(samples.at("headstart_cache_write_tokens_total{tenant=\"acme\"}"), 77);
  EXPECT_EQ(samples.at("headstart_recomputed_tokens_total{tenant=\"acme\"}"), 7);
}

TEST_F(RequestMetricsTest, WithoutAnAccountTokensAreThoseOfTheRequests) {
  RequestMetrics metrics({.keeps_account = false});
  metrics.OnRequestFinished(Record("acme"));
  metrics.OnRequestFinished(Record("acme"));
  const auto samples = SamplesOf(MetricsPage({&metrics}).Render());
  EXPECT_EQ(samples.at("headstart_prompt_tokens_total{tenant=\"acme\",source=\"host\"}"), 40);
  EXPECT_EQ(samples.at("headstart_prompt_tokens_total{tenant=\"acme\",source=\"computed\"}"), 60);
  EXPECT_EQ(samples.at("headstart_prompt_tokens_total{tenant=\"acme\",source=\"remote\"}"), 0);
  EXPECT_EQ(samples.at("headstart_completion_tokens_total{tenant=\"acme\"}"), 10);
}

// To the last nano, on the page too, as far as its numbers go.
TEST_F(RequestMetricsTest, MoneyIsExact) {
  constexpr int64_t kLargest = int64_t{1} << 53;
  v1::UsageTotals added;
  added.mutable_charge()->set_currency("USD");
  added.mutable_charge()->set_cost_nanos(kLargest - 2);
  added.mutable_charge()->set_cost_without_cache_nanos(3);
  Bill("acme", added);
  added.mutable_charge()->set_cost_nanos(1);
  Bill("acme", added);
  added.mutable_charge()->set_currency("EUR");
  Bill("acme", added);
  const std::string page = MetricsPage({&metrics_}).Render();
  EXPECT_THAT(page, HasSubstr(fmt::format("headstart_cost_nanos_total{{tenant=\"acme\",currency=\"USD\"}} {}\n",
                                          kLargest - 1)));
  EXPECT_THAT(page, HasSubstr("headstart_cost_nanos_total{tenant=\"acme\",currency=\"EUR\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("headstart_cost_without_cache_nanos_total{tenant=\"acme\",currency=\"USD\"} 6\n"));
}

TEST_F(RequestMetricsTest, TenantsBeyondTheLimitAreOneTogether) {
  for (int i = 0; i < 50; ++i) Bill(fmt::format("tenant-{}", i), Added(1));
  Bill("tenant-1", Added(1));
  const auto samples = Samples();
  EXPECT_EQ(samples.at("headstart_completion_tokens_total{tenant=\"tenant-1\"}"), 12);
  EXPECT_EQ(samples.at("headstart_completion_tokens_total{tenant=\"other\"}"), 47 * 6);
  EXPECT_FALSE(samples.contains("headstart_completion_tokens_total{tenant=\"tenant-3\"}"));
}

TEST_F(RequestMetricsTest, OutcomesKindsAndReasons) {
  RequestRecord record = Record("acme");
  metrics_.OnRequestFinished(record);
  record.reason = FinishReason::kShutdown;
  record.usage.miss_reason = MissReason::kOtherTenant;
  metrics_.OnRequestFinished(record);
  record.kind = RequestKind::kCreatePrefix;
  record.reason = FinishReason::kLength;
  metrics_.OnRequestFinished(record);
  const auto samples = Samples();
  EXPECT_EQ(samples.at("headstart_requests_total{tenant=\"acme\",kind=\"generate\",outcome=\"stop\"}"), 1);
  EXPECT_EQ(samples.at("headstart_requests_total{tenant=\"acme\",kind=\"generate\",outcome=\"shutdown\"}"), 1);
  EXPECT_EQ(samples.at("headstart_requests_total{tenant=\"acme\",kind=\"create_prefix\",outcome=\"length\"}"), 1);
  EXPECT_EQ(samples.at("headstart_cache_misses_total{reason=\"diverged\"}"), 1);
  EXPECT_EQ(samples.at("headstart_cache_misses_total{reason=\"other_tenant\"}"), 2);
  EXPECT_EQ(samples.at("headstart_cache_misses_total{reason=\"tier_error\"}"), 0);
  EXPECT_EQ(samples.at("headstart_request_duration_seconds_count"), 2);
}

TEST_F(RequestMetricsTest, TimesFallIntoTheirRanges) {
  metrics_.OnRequestFinished(Record("acme"));
  const auto samples = Samples();
  const std::string first = "headstart_time_to_first_token_seconds";
  EXPECT_EQ(samples.at(first + "_bucket{cache=\"hit\",le=\"0.01\"}"), 0);
  EXPECT_EQ(samples.at(first + "_bucket{cache=\"hit\",le=\"0.02\"}"), 1);
  EXPECT_EQ(samples.at(first + "_bucket{cache=\"hit\",le=\"+Inf\"}"), 1);
  EXPECT_EQ(samples.at(first + "_sum{cache=\"hit\"}"), 0.015);
  EXPECT_EQ(samples.at(first + "_count{cache=\"miss\"}"), 0);
  // Three gaps of 20 ms and one of 200 ms, which a mean would hide.
  EXPECT_EQ(samples.at("headstart_inter_token_latency_seconds_count"), 4);
  EXPECT_DOUBLE_EQ(samples.at("headstart_inter_token_latency_seconds_sum"), 0.26);
  EXPECT_EQ(samples.at("headstart_inter_token_latency_seconds_bucket{le=\"0.15\"}"), 3);
  EXPECT_EQ(samples.at("headstart_tokenize_duration_seconds_bucket{le=\"0.00025\"}"), 0);
  EXPECT_EQ(samples.at("headstart_tokenize_duration_seconds_bucket{le=\"0.0005\"}"), 1);
  EXPECT_EQ(samples.at("headstart_load_duration_seconds_count"), 1);
  EXPECT_EQ(metrics_.TimeToFirstToken().count(), 1);
}

TEST_F(RequestMetricsTest, WarmthIsOfThePrompt) {
  const std::vector<std::pair<int64_t, std::string>> cases = {
      {0, "miss"}, {1, "partial"}, {49, "partial"}, {50, "hit"}};
  for (const auto& [cached, warmth] : cases) {
    RequestMetrics metrics({});
    RequestRecord record = Record("acme");
    record.usage = {.prompt_tokens = 100,
                    .cached_device_tokens = cached,
                    .computed_prompt_tokens = 100 - cached,
                    .completion_tokens = 1};
    record.token_gaps = SecondsHistogram(kTokenGapBoundsSeconds);
    metrics.OnRequestFinished(record);
    const auto samples = SamplesOf(MetricsPage({&metrics}).Render());
    EXPECT_EQ(samples.at(fmt::format("headstart_time_to_first_token_seconds_count{{cache=\"{}\"}}", warmth)), 1)
        << cached;
    EXPECT_EQ(samples.at("headstart_inter_token_latency_seconds_count"), 0);
    EXPECT_EQ(samples.at("headstart_load_duration_seconds_count"), 0);
  }
}

// Cancelled while it waited: there was no first token, and no time to it.
TEST_F(RequestMetricsTest, WithoutATokenThereIsNoTimeToIt) {
  RequestRecord record = Record("acme");
  record.reason = FinishReason::kCancelled;
  record.usage = {};
  metrics_.OnRequestFinished(record);
  const auto samples = Samples();
  EXPECT_EQ(samples.at("headstart_time_to_first_token_seconds_count{cache=\"miss\"}"), 0);
  EXPECT_EQ(samples.at("headstart_request_duration_seconds_count"), 1);
}

TEST_F(RequestMetricsTest, NamesOfTenantsAreEscaped) {
  Bill("a\"b\\c\nd", Added(1));
  EXPECT_THAT(MetricsPage({&metrics_}).Render(),
              HasSubstr("headstart_completion_tokens_total{tenant=\"a\\\"b\\\\c\\nd\"} 6\n"));
}

// prometheus-cpp's own writer says the same.
TEST(TextFormatTest, SaysWhatTheLibraryWouldSay) {
  static constexpr std::array<double, 3> kBounds = {0.1, 2.5, 1048576};
  std::vector<prometheus::MetricFamily> families;
  Histogram histogram(kBounds);
  for (const double value : {0.05, 0.3, 7.0, 1e9}) histogram.Observe(value);
  histogram.AddTo(families.emplace_back(HistogramFamily("h", "a \\ b \"d\"")), {{"a", "b"}, {"c", "d\"e\\f\ng"}});
  auto& gauges = families.emplace_back(GaugeFamily("g", "numbers"));
  int label = 0;
  for (const double value : {0.0, -0.0, 1.5, -2.0, 0.1, 1.0 / 3, 1e-9, 123456789.125, 1e20, 9007199254740992.0,
                             std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()}) {
    AddGauge(gauges, {{"n", std::to_string(label++)}}, value);
  }
  families.push_back(OneCounter("c", "one", 42));
  const std::string text = ToPrometheusText(families);
  EXPECT_EQ(SamplesOf(text), SamplesOf(prometheus::TextSerializer().Serialize(families)));
  EXPECT_THAT(text, HasSubstr("# HELP h a \\\\ b \"d\"\n# TYPE h histogram\n"));
  EXPECT_THAT(ToPrometheusText({GaugeFamily("x", "a\nb")}), HasSubstr("# HELP x a\\nb\n"));
  AddGauge(families[1], {}, std::numeric_limits<double>::quiet_NaN());
  EXPECT_THAT(ToPrometheusText(families), HasSubstr("\ng NaN\n"));
}

TEST(HistogramTest, ABoundIsPartOfItsRange) {
  static constexpr std::array<double, 2> kBounds = {1, 2};
  Histogram histogram(kBounds);
  for (const double value : {0.5, 1.0, 1.5, 2.0, 3.0}) histogram.Observe(value);
  prometheus::MetricFamily family = HistogramFamily("x", "y");
  histogram.AddTo(family, {});
  const auto& sample = family.metric.front().histogram;
  EXPECT_EQ(sample.bucket[0].cumulative_count, 2);
  EXPECT_EQ(sample.bucket[1].cumulative_count, 4);
  EXPECT_EQ(sample.bucket[2].cumulative_count, 5);
  EXPECT_EQ(sample.sample_count, 5);
  EXPECT_EQ(sample.sample_sum, 8);
}

// Whatever moment a page is of, the parts of a prompt are in it together.
TEST(RequestMetricsThreadsTest, APageIsOfOneMoment) {
  RequestMetrics metrics({});
  constexpr int kEntries = 2000;
  std::thread biller([&] {
    v1::UsageEntry entry;
    entry.set_tenant("acme");
    for (int i = 0; i < kEntries; ++i) metrics.OnBilled(entry, Added(1));
  });
  double seen = 0;
  while (seen < kEntries) {
    const auto samples = SamplesOf(MetricsPage({&metrics}).Render());
    if (!samples.contains("headstart_completion_tokens_total{tenant=\"acme\"}")) continue;
    seen = samples.at("headstart_prompt_tokens_total{tenant=\"acme\",source=\"device\"}");
    ASSERT_EQ(samples.at("headstart_prompt_tokens_total{tenant=\"acme\",source=\"computed\"}"), 5 * seen);
    ASSERT_EQ(samples.at("headstart_completion_tokens_total{tenant=\"acme\"}"), 6 * seen);
  }
  biller.join();
}

}  // namespace
}  // namespace headstart::testing
