#include "gateway/telemetry/request_metrics.h"

#include <algorithm>
#include <string_view>

namespace headstart {
namespace {

using Families = std::vector<prometheus::MetricFamily>;

constexpr char kOther[] = "other";

// OpenTelemetry's for gen_ai.server.time_to_first_token, and on from there for whole requests.
constexpr std::array<double, 16> kFirstTokenSeconds = {0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1,
                                                       0.25,  0.5,   0.75, 1,    2.5,  5,    7.5,  10};
constexpr std::array<double, 15> kRequestSeconds = {0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28,
                                                    2.56, 5.12, 10,   20,   40,   80,   160};
constexpr std::array<double, 12> kTokenizeSeconds = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005,
                                                     0.01,   0.025,   0.05,   0.1,   0.25,   1};
// Powers of four, up to the longest contexts.
constexpr std::array<double, 11> kTokens = {1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576};

constexpr std::array<const char*, 5> kSourceNames = {"device", "host", "disk", "remote", "computed"};
constexpr std::array<const char*, 5> kOutcomeNames = {"stop", "length", "cancelled", "deadline", "shutdown"};
// As MissReason.
constexpr auto kReasonNames = std::to_array<const char*>({"none", "new", "shorter_than_block", "diverged", "evicted",
                                                          "expired", "caching_off", "tier_error", "other_tenant"});
constexpr std::array<const char*, 3> kWarmthNames = {"miss", "partial", "hit"};

// A hit: at least half of the prompt came from the cache.
size_t WarmthOf(const GenerationUsage& usage) {
  if (usage.cached_tokens() == 0) return 0;
  return 2 * usage.cached_tokens() < usage.prompt_tokens ? 1 : 2;
}

// A name that begins with a letter; `tenant` is the label of most families.
MetricLabels ByTenant(const std::string& tenant) { return {{"tenant", tenant}}; }

template <typename Tenants, typename Member>
prometheus::MetricFamily TenantCounter(const char* name, const char* help, const Tenants& tenants, Member member) {
  prometheus::MetricFamily family = CounterFamily(name, help);
  family.metric.reserve(tenants.size());
  for (const auto& [tenant, numbers] : tenants) AddCounter(family, ByTenant(tenant), numbers.*member);
  return family;
}

prometheus::MetricFamily OneHistogram(const char* name, const char* help, const Histogram& histogram) {
  prometheus::MetricFamily family = HistogramFamily(name, help);
  histogram.AddTo(family, {});
  return family;
}

}  // namespace

RequestMetrics::Durations::Durations()
    : time_to_first_token{Histogram(kFirstTokenSeconds), Histogram(kFirstTokenSeconds), Histogram(kFirstTokenSeconds)},
      inter_token(kTokenGapBoundsSeconds),
      end_to_end(kRequestSeconds),
      tokenize(kTokenizeSeconds),
      queue(kFirstTokenSeconds),
      load(kFirstTokenSeconds),
      prefill(kFirstTokenSeconds),
      decode(kRequestSeconds),
      prompt_tokens(kTokens),
      completion_tokens(kTokens) {}

RequestMetrics::RequestMetrics(const RequestMetricsOptions& options) : options_(options) {}

RequestMetrics::Tenant& RequestMetrics::TenantOf(const std::string& name) {
  const auto found = numbers_.tenants.find(name);
  if (found != numbers_.tenants.end()) return found->second;
  const bool is_full = numbers_.tenants.size() >= static_cast<size_t>(std::max(options_.max_tenants, 0));
  return numbers_.tenants[is_full ? kOther : name];
}

void RequestMetrics::OnRequestFinished(const RequestRecord& record) {
  MutexLock lock(mutex_);
  Tenant& tenant = TenantOf(record.tenant);
  auto& outcomes = record.kind == RequestKind::kGenerate ? tenant.generated : tenant.prefixes;
  ++outcomes[static_cast<size_t>(record.reason)];
  ++numbers_.misses[static_cast<size_t>(record.usage.miss_reason)];
  if (record.kind == RequestKind::kGenerate) AddDurations(record, numbers_.durations);
  tenant.recomputed_tokens += record.usage.recomputed_tokens;
  if (options_.keeps_account) return;
  const GenerationUsage& usage = record.usage;
  const std::array<int64_t, kSources> sources = {usage.cached_device_tokens, usage.cached_host_tokens,
                                                 usage.cached_disk_tokens, usage.cached_remote_tokens,
                                                 usage.computed_prompt_tokens};
  for (size_t i = 0; i < sources.size(); ++i) tenant.prompt_tokens[i] += sources[i];
  tenant.completion_tokens += usage.completion_tokens;
  tenant.cache_write_tokens += usage.cache_write_tokens;
}

// A request that ended before its first token has no time to it.
void RequestMetrics::AddDurations(const RequestRecord& record, Durations& durations) {
  const GenerationTimings& timings = record.timings;
  const GenerationUsage& usage = record.usage;
  durations.end_to_end.Observe(absl::ToDoubleSeconds(timings.total));
  durations.tokenize.Observe(absl::ToDoubleSeconds(record.tokenize));
  durations.queue.Observe(absl::ToDoubleSeconds(timings.queue));
  if (usage.cached_tokens() > usage.cached_device_tokens) durations.load.Observe(absl::ToDoubleSeconds(timings.load));
  durations.prompt_tokens.Observe(static_cast<double>(usage.prompt_tokens));
  durations.completion_tokens.Observe(static_cast<double>(usage.completion_tokens));
  if (usage.completion_tokens == 0) return;
  durations.prefill.Observe(absl::ToDoubleSeconds(timings.prefill));
  durations.decode.Observe(absl::ToDoubleSeconds(timings.decode));
  durations.time_to_first_token[WarmthOf(usage)].Observe(absl::ToDoubleSeconds(timings.ttft));
  durations.inter_token.Add(Histogram(record.token_gaps));
}

void RequestMetrics::OnBilled(const v1::UsageEntry& entry, const v1::UsageTotals& added) {
  MutexLock lock(mutex_);
  Tenant& tenant = TenantOf(entry.tenant());
  const v1::Usage& usage = added.usage();
  const v1::TierTokens& cached = usage.cached_by_tier();
  const std::array<int64_t, kSources> sources = {cached.device(), cached.host(), cached.disk(), cached.remote(),
                                                 usage.computed_prompt_tokens()};
  for (size_t i = 0; i < sources.size(); ++i) tenant.prompt_tokens[i] += sources[i];
  tenant.completion_tokens += usage.completion_tokens();
  tenant.cache_write_tokens += usage.cache_write_tokens();
  tenant.storage_token_seconds += added.storage_token_seconds();
  if (added.charge().currency().empty()) return;
  Money& money = tenant.money[added.charge().currency()];
  money.cost_nanos += added.charge().cost_nanos();
  money.cost_without_cache_nanos += added.charge().cost_without_cache_nanos();
}

// The numbers are copied under the lock and named outside it, so that the engine's thread never waits for text.
std::vector<prometheus::MetricFamily> RequestMetrics::Collect() const {
  const Numbers numbers = [this] {
    MutexLock lock(mutex_);
    return numbers_;
  }();
  Families families;
  CollectRequests(numbers.tenants, families);
  CollectTokens(numbers.tenants, families);
  CollectMoney(numbers.tenants, families);
  CollectMisses(numbers, families);
  CollectDurations(numbers.durations, families);
  return families;
}

void RequestMetrics::CollectRequests(const Tenants& tenants, Families& families) {
  auto& family = families.emplace_back(
      CounterFamily("headstart_requests_total",
                    "Requests that ended, by how; those that were refused before any work are not among them"));
  for (const auto& [tenant, numbers] : tenants) {
    for (size_t i = 0; i < kOutcomes; ++i) {
      const auto add = [&, &name = tenant](const char* kind, int64_t count) {
        if (count == 0) return;
        AddCounter(family, {{"tenant", name}, {"kind", kind}, {"outcome", kOutcomeNames[i]}}, count);
      };
      add("generate", numbers.generated[i]);
      add("create_prefix", numbers.prefixes[i]);
    }
  }
}

void RequestMetrics::CollectTokens(const Tenants& tenants, Families& families) {
  auto& prompt = families.emplace_back(CounterFamily(
      "headstart_prompt_tokens_total", "Prompt tokens by where their KV came from: a tier of the cache, or computed"));
  for (const auto& [tenant, numbers] : tenants) {
    for (size_t i = 0; i < kSources; ++i) {
      AddCounter(prompt, {{"tenant", tenant}, {"source", kSourceNames[i]}}, numbers.prompt_tokens[i]);
    }
  }
  families.push_back(
      TenantCounter("headstart_completion_tokens_total", "Tokens of answers", tenants, &Tenant::completion_tokens));
  families.push_back(TenantCounter("headstart_cache_write_tokens_total", "Tokens newly put into the cache", tenants,
                                   &Tenant::cache_write_tokens));
  families.push_back(TenantCounter("headstart_recomputed_tokens_total",
                                   "Tokens computed again after preemption: not billed, never counted as cached",
                                   tenants, &Tenant::recomputed_tokens));
  families.push_back(TenantCounter("headstart_storage_token_seconds_total",
                                   "Tokens of registered prefixes times the seconds that they were kept", tenants,
                                   &Tenant::storage_token_seconds));
}

void RequestMetrics::CollectMoney(const Tenants& tenants, Families& families) {
  auto cost = CounterFamily("headstart_cost_nanos_total",
                            "What was charged, in billionths of the currency's unit; exact up to 2^53 of them");
  auto without =
      CounterFamily("headstart_cost_without_cache_nanos_total",
                    "What the same requests would have cost had nothing been cached; saved is this less the cost");
  for (const auto& [tenant, numbers] : tenants) {
    for (const auto& [currency, money] : numbers.money) {
      const MetricLabels labels = {{"tenant", tenant}, {"currency", currency}};
      AddCounter(cost, labels, money.cost_nanos);
      AddCounter(without, labels, money.cost_without_cache_nanos);
    }
  }
  families.push_back(std::move(cost));
  families.push_back(std::move(without));
}

void RequestMetrics::CollectMisses(const Numbers& numbers, Families& families) {
  auto& misses = families.emplace_back(
      CounterFamily("headstart_cache_misses_total",
                    "Requests by why the cache did not cover more of the prompt; none: it covered all it can"));
  static_assert(kReasonNames.size() == kReasons);
  for (size_t i = 0; i < kReasons; ++i) AddCounter(misses, {{"reason", kReasonNames[i]}}, numbers.misses[i]);
}

void RequestMetrics::CollectDurations(const Durations& durations, Families& families) {
  auto& first = families.emplace_back(
      HistogramFamily("headstart_time_to_first_token_seconds",
                      "From submission to the first token; cache is hit from half of the prompt cached on"));
  for (size_t i = 0; i < kWarmths; ++i) {
    durations.time_to_first_token[i].AddTo(first, {{"cache", kWarmthNames[i]}});
  }
  families.push_back(OneHistogram("headstart_inter_token_latency_seconds",
                                  "Time between tokens of an answer; tokens that came together share theirs",
                                  durations.inter_token));
  families.push_back(
      OneHistogram("headstart_request_duration_seconds", "From submission to the end", durations.end_to_end));
  families.push_back(OneHistogram("headstart_tokenize_duration_seconds",
                                  "Before submission: running the chat template and tokenizing", durations.tokenize));
  families.push_back(OneHistogram("headstart_queue_duration_seconds", "From submission to the first step of work on it",
                                  durations.queue));
  families.push_back(OneHistogram("headstart_load_duration_seconds",
                                  "Of the queue time: bringing cached tokens up from host memory and disk",
                                  durations.load));
  families.push_back(OneHistogram("headstart_prefill_duration_seconds",
                                  "From the first step of work to the first token", durations.prefill));
  families.push_back(
      OneHistogram("headstart_decode_duration_seconds", "From the first token to the last", durations.decode));
  families.push_back(OneHistogram("headstart_request_prompt_tokens", "Tokens of one prompt", durations.prompt_tokens));
  families.push_back(
      OneHistogram("headstart_request_completion_tokens", "Tokens of one answer", durations.completion_tokens));
}

Histogram RequestMetrics::TimeToFirstToken() const {
  MutexLock lock(mutex_);
  Histogram all(kFirstTokenSeconds);
  for (const Histogram& histogram : numbers_.durations.time_to_first_token) all.Add(histogram);
  return all;
}

Histogram RequestMetrics::InterTokenLatency() const {
  MutexLock lock(mutex_);
  return numbers_.durations.inter_token;
}

}  // namespace headstart
