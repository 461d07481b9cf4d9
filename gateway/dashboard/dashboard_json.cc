#include "gateway/dashboard/dashboard_json.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "gateway/services/convert.h"
#include "nlohmann/json.hpp"

namespace headstart {
namespace {

using Json = nlohmann::ordered_json;

constexpr absl::Duration kNow = absl::Minutes(5);  // what "now" means
constexpr size_t kShownTenants = 50;
constexpr size_t kShownInsights = 10;

// Text of prompts is whatever callers sent: what is no UTF-8 becomes U+FFFD.
std::string Dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// Without the enum's prefix, in lower case: "diverged".
std::string ReasonName(v1::MissReason reason) {
  std::string name = v1::MissReason_Name(reason).substr(std::string_view("MISS_REASON_").size());
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name;
}

// Money as text: nano-units are more than the numbers of a script can hold exactly.
Json SumsJson(const ActivitySums& sums) {
  return {{"requests", sums.requests},
          {"prompt_tokens", sums.prompt_tokens()},
          {"cached_tokens", sums.cached_tokens()},
          {"device_tokens", sums.device_tokens},
          {"host_tokens", sums.host_tokens},
          {"disk_tokens", sums.disk_tokens},
          {"remote_tokens", sums.remote_tokens},
          {"computed_tokens", sums.computed_tokens},
          {"completion_tokens", sums.completion_tokens},
          {"cost_nanos", std::to_string(sums.cost_nanos)},
          {"saved_nanos", std::to_string(sums.saved_nanos)}};
}

Json TtftJson(const TimeHistogram& times) {
  return {{"count", times.count()},
          {"p50_ms", absl::ToDoubleMilliseconds(times.Quantile(0.5))},
          {"p95_ms", absl::ToDoubleMilliseconds(times.Quantile(0.95))}};
}

void AddTo(ActivitySums& total, const ActivitySums& sums) {
  total.requests += sums.requests;
  total.device_tokens += sums.device_tokens;
  total.host_tokens += sums.host_tokens;
  total.disk_tokens += sums.disk_tokens;
  total.remote_tokens += sums.remote_tokens;
  total.computed_tokens += sums.computed_tokens;
  total.completion_tokens += sums.completion_tokens;
  total.cost_nanos += sums.cost_nanos;
  total.saved_nanos += sums.saved_nanos;
}

ActivitySums LastMinutes(const ActivitySnapshot& activity, absl::Time now) {
  ActivitySums sums;
  for (const ActivityInterval& interval : activity.intervals) {
    if (interval.start >= now - kNow) AddTo(sums, interval.sums);
  }
  return sums;
}

// One array for each number: what a chart takes.
Json SeriesJson(const std::vector<ActivityInterval>& intervals) {
  Json series = {{"time", Json::array()},        {"requests", Json::array()},    {"device", Json::array()},
                 {"host", Json::array()},        {"disk", Json::array()},        {"remote", Json::array()},
                 {"computed", Json::array()},    {"saved_nanos", Json::array()}, {"ttft_cold_ms", Json::array()},
                 {"ttft_warm_ms", Json::array()}};
  const auto median = [](const TimeHistogram& times) -> Json {
    if (times.count() == 0) return nullptr;
    return absl::ToDoubleMilliseconds(times.Quantile(0.5));
  };
  for (const ActivityInterval& interval : intervals) {
    series["time"].push_back(absl::ToUnixSeconds(interval.start));
    series["requests"].push_back(interval.sums.requests);
    series["device"].push_back(interval.sums.device_tokens);
    series["host"].push_back(interval.sums.host_tokens);
    series["disk"].push_back(interval.sums.disk_tokens);
    series["remote"].push_back(interval.sums.remote_tokens);
    series["computed"].push_back(interval.sums.computed_tokens);
    series["saved_nanos"].push_back(std::to_string(interval.sums.saved_nanos));
    series["ttft_cold_ms"].push_back(median(interval.ttft_cold));
    series["ttft_warm_ms"].push_back(median(interval.ttft_warm));
  }
  return series;
}

Json TiersJson(const v1::GetStatusResponse& status) {
  Json tiers = Json::array();
  for (const v1::TierStatus& tier : status.tiers()) {
    if (!tier.configured()) continue;
    std::string name = v1::Tier_Name(tier.tier()).substr(std::string_view("TIER_").size());
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    tiers.push_back({{"name", name},
                     {"on", tier.on()},
                     {"used_bytes", tier.used_bytes()},
                     {"capacity_bytes", tier.capacity_bytes()},
                     {"used_blocks", tier.used_blocks()},
                     {"capacity_blocks", tier.capacity_blocks()},
                     {"evicted_blocks", tier.evicted_blocks()},
                     {"loaded_blocks", tier.loaded_blocks()},
                     {"outages", tier.outages()}});
  }
  return tiers;
}

Json MissesJson(const ActivitySnapshot& activity) {
  std::map<std::string, MissSums> by_name;  // two reasons may be one to callers
  for (const auto& [reason, sums] : activity.misses) {
    MissSums& named = by_name[ReasonName(ToMissReason(reason))];
    named.requests += sums.requests;
    named.computed_tokens += sums.computed_tokens;
  }
  Json misses = Json::array();
  for (const auto& [name, sums] : by_name) {
    misses.push_back({{"reason", name}, {"requests", sums.requests}, {"computed_tokens", sums.computed_tokens}});
  }
  return misses;
}

Json SlowestJson(const ActivitySnapshot& activity) {
  Json slowest = Json::array();
  for (const SlowRequest& slow : activity.slowest) {
    slowest.push_back({{"time", absl::ToUnixSeconds(slow.time)},
                       {"request_id", slow.request_id},
                       {"tenant", slow.tenant},
                       {"ttft_ms", absl::ToDoubleMilliseconds(slow.ttft)},
                       {"queue_ms", absl::ToDoubleMilliseconds(slow.queue)},
                       {"prompt_tokens", slow.prompt_tokens},
                       {"cached_tokens", slow.cached_tokens},
                       {"miss_reason", ReasonName(ToMissReason(slow.miss_reason))}});
  }
  return slowest;
}

Json TenantsJson(const ActivitySnapshot& activity) {
  std::vector<std::pair<std::string, ActivitySums>> tenants(activity.tenants.begin(), activity.tenants.end());
  std::ranges::stable_sort(
      tenants, [](const auto& a, const auto& b) { return a.second.prompt_tokens() > b.second.prompt_tokens(); });
  if (tenants.size() > kShownTenants) tenants.resize(kShownTenants);
  Json result = Json::array();
  for (const auto& [name, sums] : tenants) {
    Json row = SumsJson(sums);
    row["tenant"] = name;
    result.push_back(std::move(row));
  }
  return result;
}

Json TtftOfTheHour(const ActivitySnapshot& activity) {
  TimeHistogram cold, warm;
  for (const ActivityInterval& interval : activity.intervals) {
    cold.Add(interval.ttft_cold);
    warm.Add(interval.ttft_warm);
  }
  return {{"cold", TtftJson(cold)}, {"warm", TtftJson(warm)}};
}

Json ExplanationJson(const std::string& tenant, const v1::MissExplanation& explanation) {
  Json ways = Json::array();
  for (const v1::Divergence& way : explanation.divergences()) {
    ways.push_back({{"text", way.text()}, {"requests", way.requests()}});
  }
  return {{"tenant", tenant},
          {"reason", ReasonName(explanation.reason())},
          {"requests", explanation.requests()},
          {"computed_tokens", explanation.computed_tokens()},
          {"token", explanation.token()},
          {"earlier_requests", explanation.earlier_requests()},
          {"text_before", explanation.text_before()},
          {"ways", std::move(ways)},
          {"saved_by_moving_tokens", explanation.saved_by_moving_tokens()},
          {"saved_by_moving_nanos", std::to_string(explanation.saved_by_moving().saved_nanos())},
          {"summary", explanation.summary()}};
}

// The first few by what `worth` says of them.
template <typename Worth>
Json MostWorth(std::vector<Json> rows, const Worth& worth) {
  std::ranges::stable_sort(rows, [&](const Json& a, const Json& b) { return worth(a) > worth(b); });
  if (rows.size() > kShownInsights) rows.resize(kShownInsights);
  return rows;
}

}  // namespace

std::string OperatorData(const ActivitySnapshot& activity, const v1::GetStatusResponse& status, absl::Time now) {
  const Json data = {{"role", "operator"},
                     {"time", absl::ToUnixSeconds(now)},
                     {"start", absl::ToUnixSeconds(activity.start)},
                     {"version", status.version()},
                     {"model", status.model().name()},
                     {"currency", activity.currency},
                     {"running", status.requests().running()},
                     {"waiting", status.requests().waiting()},
                     {"preemptions", status.requests().preemptions()},
                     {"now", SumsJson(LastMinutes(activity, now))},
                     {"now_seconds", absl::ToInt64Seconds(std::min(kNow, now - activity.start))},
                     {"total", SumsJson(activity.total)},
                     {"ttft", TtftOfTheHour(activity)},
                     {"tiers", TiersJson(status)},
                     {"misses", MissesJson(activity)},
                     {"slowest", SlowestJson(activity)},
                     {"tenants", TenantsJson(activity)},
                     {"series", SeriesJson(activity.intervals)}};
  return Dump(data);
}

std::string TenantData(const std::string& tenant, const ActivitySums& sums, const std::string& currency,
                       const std::string& model, absl::Time start, absl::Time now) {
  Json row = SumsJson(sums);
  row["tenant"] = tenant;
  const Json data = {{"role", "tenant"},
                     {"time", absl::ToUnixSeconds(now)},
                     {"start", absl::ToUnixSeconds(start)},
                     {"model", model},
                     {"currency", currency},
                     {"total", SumsJson(sums)},
                     {"tenants", {std::move(row)}}};
  return Dump(data);
}

std::string InsightJson(const std::vector<TenantInsight>& tenants) {
  std::vector<Json> misses, hottest;
  for (const TenantInsight& insight : tenants) {
    for (const auto& explanation : insight.misses.explanations()) {
      misses.push_back(ExplanationJson(insight.tenant, explanation));
    }
    for (const TenantInsight::Prefix& prefix : insight.hottest) {
      hottest.push_back({{"tenant", insight.tenant},
                         {"requests", prefix.requests},
                         {"tokens", prefix.tokens},
                         {"text", prefix.text}});
    }
  }
  const auto computed = [](const Json& row) { return row["computed_tokens"].get<int64_t>(); };
  const auto repeated = [](const Json& row) {
    return (row["requests"].get<int64_t>() - 1) * row["tokens"].get<int64_t>();
  };
  const Json insight = {{"misses", MostWorth(std::move(misses), computed)},
                        {"hottest", MostWorth(std::move(hottest), repeated)}};
  return Dump(insight);
}

}  // namespace headstart
