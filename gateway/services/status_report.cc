#include "gateway/services/status_report.h"

#include <algorithm>

#include "gateway/services/convert.h"
#include "gateway/services/proto_time.h"
#include "gateway/services/version.h"

namespace headstart {
namespace {

v1::RequestStatus ToRequests(const EngineStats& stats) {
  v1::RequestStatus result;
  result.set_running(stats.running);
  result.set_waiting(stats.waiting);
  result.set_waiting_for_prefix(stats.waiting_for_prefix);
  result.set_finished(stats.finished);
  result.set_preemptions(stats.preemptions);
  result.set_prompt_tokens_computed(stats.prompt_tokens_computed);
  result.set_completion_tokens(stats.completion_tokens);
  return result;
}

v1::CacheStatus ToCache(const EngineStats& engine) {
  const PrefixStoreStats& stats = engine.store;
  v1::CacheStatus result;
  result.set_queried_tokens(engine.queried_tokens);
  result.set_hit_tokens(engine.hit_tokens);
  result.set_written_tokens(stats.written_tokens);
  result.set_recomputed_by_choice_tokens(stats.recomputed_by_choice_tokens);
  result.set_dropped_blocks(stats.dropped_blocks);
  result.set_bad_blocks(stats.bad_blocks);
  result.set_transfers_pending(stats.transfers_pending);
  return result;
}

struct Fill {
  int64_t capacity_blocks = 0;
  int64_t used_blocks = 0;
};

v1::TierStatus ToTier(v1::Tier tier, const Fill& fill, bool on, int64_t block_bytes) {
  v1::TierStatus result;
  result.set_tier(tier);
  result.set_configured(fill.capacity_blocks > 0);
  result.set_on(on);
  result.set_capacity_blocks(fill.capacity_blocks);
  result.set_used_blocks(fill.used_blocks);
  result.set_capacity_bytes(fill.capacity_blocks * block_bytes);
  result.set_used_bytes(fill.used_blocks * block_bytes);
  return result;
}

v1::TierStatus ToDevice(const PrefixStoreStats& stats, int64_t block_bytes) {
  const Fill fill{stats.pool_blocks, stats.pool_blocks - stats.free_blocks};
  v1::TierStatus result = ToTier(v1::TIER_DEVICE, fill, /*on=*/true, block_bytes);
  result.set_evicted_blocks(stats.evicted_blocks);
  return result;
}

v1::TierStatus ToHost(const PrefixStoreStats& stats, int64_t block_bytes) {
  const Fill fill{stats.host_blocks, stats.host_used_blocks};
  v1::TierStatus result = ToTier(v1::TIER_HOST, fill, /*on=*/stats.host_blocks > 0, block_bytes);
  result.set_loaded_blocks(stats.host_loaded_blocks);
  return result;
}

v1::TierStatus ToDisk(const PrefixStoreStats& stats, int64_t block_bytes) {
  const Fill fill{stats.disk_blocks, stats.disk_used_blocks};
  v1::TierStatus result = ToTier(v1::TIER_DISK, fill, stats.disk_on, block_bytes);
  result.set_loaded_blocks(stats.disk_loaded_blocks);
  result.set_stored_blocks(stats.disk_stored_blocks);
  result.set_failures(stats.disk_failures);
  result.set_outages(stats.disk_outages);
  return result;
}

}  // namespace

v1::GetStatusResponse ToStatus(const ServiceContext& context, absl::Time start, absl::Time now) {
  const EngineStats stats = context.engine.stats();
  const KvShape& kv = context.engine.kv_shape();
  const int64_t block_bytes = kv.bytes_per_token() * kv.block_tokens;
  v1::GetStatusResponse status;
  status.set_version(std::string(Version()));
  *status.mutable_model() = ToModel(context.engine, context.model_name);
  Set(start, status.mutable_start_time());
  Set(std::max(absl::ZeroDuration(), now - start), status.mutable_uptime());  // a wall clock may step back
  *status.mutable_requests() = ToRequests(stats);
  *status.mutable_cache() = ToCache(stats);
  *status.add_tiers() = ToDevice(stats.store, block_bytes);
  *status.add_tiers() = ToHost(stats.store, block_bytes);
  *status.add_tiers() = ToDisk(stats.store, block_bytes);
  return status;
}

void Fill(const VerifyReport& report, v1::VerifyDiskResponse& response) {
  response.set_blocks(report.blocks);
  response.set_bytes(report.bytes);
  response.set_bad_blocks(report.bad_blocks);
  response.set_orphan_blocks(report.orphan_blocks);
}

}  // namespace headstart
