#include "gateway/telemetry/engine_metrics.h"

#include <array>
#include <utility>

#include "fmt/format.h"
#include "gateway/services/version.h"

namespace headstart {
namespace {

using Families = std::vector<prometheus::MetricFamily>;

constexpr std::array<const char*, kTierKinds> kTierNames = {"device", "host", "disk"};  // as TierKind

MetricLabels Tier(const char* tier) { return {{"tier", tier}}; }

void CollectScheduler(const EngineStats& stats, Families& families) {
  families.push_back(
      OneGauge("headstart_requests_running", "Requests with a seat in the batch", static_cast<double>(stats.running)));
  auto& waiting = families.emplace_back(
      GaugeFamily("headstart_requests_waiting",
                  "Requests without a seat: for room, or for a prefix that another one is computing"));
  AddGauge(waiting, {{"reason", "capacity"}}, static_cast<double>(stats.waiting - stats.waiting_for_prefix));
  AddGauge(waiting, {{"reason", "prefix"}}, static_cast<double>(stats.waiting_for_prefix));
  families.push_back(OneCounter("headstart_preemptions_total",
                                "Times that a running request gave up its memory for others", stats.preemptions));
  families.push_back(OneCounter("headstart_steps_total", "Forward passes", stats.steps));
}

// Levels in bytes: what is there, what of it is in use now, what there could be.
void CollectLevels(const PrefixStoreStats& store, double block_bytes, Families& families) {
  const auto bytes = [block_bytes](int64_t blocks) { return block_bytes * static_cast<double>(blocks); };
  auto resident =
      GaugeFamily("headstart_cache_resident_bytes",
                  "KV kept in a tier, whether running requests use it or not: what an idle server still has");
  AddGauge(resident, Tier("device"), bytes(store.pool_blocks - store.free_blocks));
  AddGauge(resident, Tier("host"), bytes(store.host_used_blocks));
  AddGauge(resident, Tier("disk"), bytes(store.disk_used_blocks));
  auto leased = GaugeFamily("headstart_cache_leased_bytes",
                            "Of the resident bytes, those that running requests and pins hold; 0 when nothing runs");
  AddGauge(leased, Tier("device"), bytes(store.leased_blocks));
  auto capacity =
      GaugeFamily("headstart_cache_capacity_bytes", "KV that a tier can hold; 0 where it is not configured");
  AddGauge(capacity, Tier("device"), bytes(store.pool_blocks));
  AddGauge(capacity, Tier("host"), bytes(store.host_blocks));
  AddGauge(capacity, Tier("disk"), bytes(store.disk_blocks));
  for (auto* family : {&resident, &leased, &capacity}) families.push_back(std::move(*family));
  families.push_back(OneGauge("headstart_cache_pinned_bytes", "Of the leased bytes, those of registered prefixes",
                              bytes(store.pinned_blocks)));
  families.push_back(OneGauge("headstart_cache_reserved_bytes",
                              "Device memory promised to running requests, not yet taken",
                              bytes(store.reserved_blocks)));
  families.push_back(OneGauge("headstart_cache_resident_tokens", "Tokens that the cache could give",
                              static_cast<double>(store.cached_tokens)));
}

void CollectCache(const EngineStats& stats, Families& families) {
  const PrefixStoreStats& store = stats.store;
  families.push_back(OneCounter("headstart_cache_queried_tokens_total",
                                "Prompt tokens of requests that read the cache, each once", stats.queried_tokens));
  families.push_back(OneCounter("headstart_cache_hit_tokens_total",
                                "Of the queried tokens, those found; not what a preempted request finds again",
                                stats.hit_tokens));
  families.push_back(OneCounter("headstart_cache_recomputed_by_choice_tokens_total",
                                "Tokens stored below the device that were sooner computed than loaded",
                                store.recomputed_by_choice_tokens));
  auto& evicted = families.emplace_back(CounterFamily(
      "headstart_cache_evicted_blocks_total",
      "Blocks that left a tier, by why: capacity (room was needed), expired (their time to live had passed), "
      "dropped (capacity, and no lower tier could take them: they are gone)"));
  for (size_t tier = 0; tier < kTierNames.size(); ++tier) {
    AddCounter(evicted, {{"tier", kTierNames[tier]}, {"reason", "capacity"}},
               store.ages.idle_before_eviction[tier].count());
  }
  AddCounter(evicted, {{"tier", "all"}, {"reason", "expired"}}, store.expired_blocks);
  AddCounter(evicted, {{"tier", "all"}, {"reason", "dropped"}}, store.dropped_blocks);
}

void CollectTransfers(const PrefixStoreStats& store, int64_t block_bytes, Families& families) {
  auto& read = families.emplace_back(CounterFamily("headstart_tier_read_bytes_total", "KV brought up to the device"));
  AddCounter(read, Tier("host"), store.host_loaded_blocks * block_bytes);
  AddCounter(read, Tier("disk"), store.disk_loaded_blocks * block_bytes);
  auto& written = families.emplace_back(CounterFamily("headstart_tier_written_bytes_total", "KV written to a tier"));
  AddCounter(written, Tier("host"), store.host_stored_blocks * block_bytes);
  AddCounter(written, Tier("disk"), store.disk_stored_blocks * block_bytes);
  auto& failures =
      families.emplace_back(CounterFamily("headstart_tier_failures_total", "Transfers that a tier refused"));
  AddCounter(failures, Tier("disk"), store.disk_failures);
  auto& outages =
      families.emplace_back(CounterFamily("headstart_tier_outages_total", "Times that a tier was turned off"));
  AddCounter(outages, Tier("disk"), store.disk_outages);
  auto& on = families.emplace_back(GaugeFamily("headstart_tier_on", "1 while a tier is configured and in use"));
  AddGauge(on, Tier("device"), 1);
  AddGauge(on, Tier("host"), store.host_blocks > 0 ? 1 : 0);
  AddGauge(on, Tier("disk"), store.disk_on ? 1 : 0);
  families.push_back(
      OneCounter("headstart_corrupt_blocks_total", "Blocks that came back damaged or not at all", store.bad_blocks));
  families.push_back(OneGauge("headstart_transfers_pending", "Transfers between tiers that are under way or due",
                              static_cast<double>(store.transfers_pending)));
}

void CollectTransferTimes(const TransferHistograms& times, Families& families) {
  auto& family = families.emplace_back(
      HistogramFamily("headstart_tier_transfer_duration_seconds", "One transfer of up to 16 blocks, without its wait"));
  Histogram(times.host_reads).AddTo(family, {{"tier", "host"}, {"direction", "read"}});
  Histogram(times.disk_reads).AddTo(family, {{"tier", "disk"}, {"direction", "read"}});
  Histogram(times.disk_writes).AddTo(family, {{"tier", "disk"}, {"direction", "write"}});
}

void CollectAges(const BlockAgeHistograms& ages, Families& families) {
  Histogram(ages.reuse_gap)
      .AddTo(families.emplace_back(HistogramFamily("headstart_cache_block_reuse_gap_seconds",
                                                   "From a block's last use to the request that found it again")),
             {});
  Histogram(ages.lifetime)
      .AddTo(families.emplace_back(HistogramFamily("headstart_cache_block_lifetime_seconds",
                                                   "From a block's publication until no tier had it; of one in 64")),
             {});
  auto& idle = families.emplace_back(HistogramFamily("headstart_cache_block_idle_before_eviction_seconds",
                                                     "From a block's last use until a tier gave it up for room"));
  for (size_t tier = 0; tier < kTierNames.size(); ++tier) {
    Histogram(ages.idle_before_eviction[tier]).AddTo(idle, {{"tier", kTierNames[tier]}});
  }
}

void CollectVllm(const EngineStats& stats, const KvShape& shape, const std::string& model, Families& families) {
  const PrefixStoreStats& store = stats.store;
  const MetricLabels labels = {{"model_name", model}};
  const auto gauge = [&](const char* name, const char* help, double value) {
    AddGauge(families.emplace_back(GaugeFamily(name, help)), labels, value);
  };
  gauge("vllm:num_requests_running", "As headstart_requests_running", static_cast<double>(stats.running));
  gauge("vllm:num_requests_waiting", "As headstart_requests_waiting, for any reason",
        static_cast<double>(stats.waiting));
  gauge("vllm:kv_cache_usage_perc", "Leased share of the device's KV memory, 0 to 1",
        store.pool_blocks == 0 ? 0 : static_cast<double>(store.leased_blocks) / static_cast<double>(store.pool_blocks));
  const auto counter = [&](const char* name, const char* help, int64_t value) {
    AddCounter(families.emplace_back(CounterFamily(name, help)), labels, value);
  };
  counter("vllm:prefix_cache_queries_total", "As headstart_cache_queried_tokens_total", stats.queried_tokens);
  counter("vllm:prefix_cache_hits_total", "As headstart_cache_hit_tokens_total", stats.hit_tokens);
  AddGauge(families.emplace_back(GaugeFamily("vllm:cache_config_info", "1; its labels say how large the cache is")),
           {{"block_size", fmt::format("{}", shape.block_tokens)},
            {"num_gpu_blocks", fmt::format("{}", store.pool_blocks)},
            {"model_name", model}},
           1);
}

void CollectVllm(const RequestMetrics& requests, const std::string& model, Families& families) {
  const auto add = [&](const char* name, const char* help, const Histogram& histogram) {
    histogram.AddTo(families.emplace_back(HistogramFamily(name, help)), {{"model_name", model}});
  };
  add("vllm:time_to_first_token_seconds", "As headstart_time_to_first_token_seconds", requests.TimeToFirstToken());
  add("vllm:inter_token_latency_seconds", "As headstart_inter_token_latency_seconds", requests.InterTokenLatency());
}

}  // namespace

EngineMetrics::EngineMetrics(const Engine& engine, const RequestMetrics& requests, std::string model_name)
    : engine_(engine),
      requests_(requests),
      model_name_(std::move(model_name)),
      block_bytes_(static_cast<double>(engine.kv_shape().bytes_per_token() * engine.kv_shape().block_tokens)) {}

Families EngineMetrics::Collect() const {
  const EngineStats stats = engine_.stats();
  Families families;
  AddGauge(families.emplace_back(GaugeFamily("headstart_build_info", "1; its labels say what runs")),
           {{"version", std::string(Version())},
            {"model", model_name_},
            {"fingerprint", fmt::format("{:016x}{:016x}", engine_.fingerprint().high, engine_.fingerprint().low)}},
           1);
  CollectScheduler(stats, families);
  CollectLevels(stats.store, block_bytes_, families);
  CollectCache(stats, families);
  CollectTransfers(stats.store, static_cast<int64_t>(block_bytes_), families);
  CollectTransferTimes(stats.store.transfers, families);
  CollectAges(stats.store.ages, families);
  CollectVllm(stats, engine_.kv_shape(), model_name_, families);
  CollectVllm(requests_, model_name_, families);
  return families;
}

}  // namespace headstart
