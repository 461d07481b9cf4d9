#include "gateway/accounting/usage_message.h"

namespace headstart {

v1::TierTokens CachedByTier(const GenerationUsage& usage) {
  v1::TierTokens tiers;
  tiers.set_device(usage.cached_device_tokens);
  tiers.set_host(usage.cached_host_tokens);
  tiers.set_disk(usage.cached_disk_tokens);
  tiers.set_remote(usage.cached_remote_tokens);
  return tiers;
}

v1::Usage ToUsage(const GenerationUsage& usage) {
  v1::Usage result;
  result.set_prompt_tokens(usage.prompt_tokens);
  result.set_cached_tokens(usage.cached_tokens());
  result.set_computed_prompt_tokens(usage.computed_prompt_tokens);
  *result.mutable_cached_by_tier() = CachedByTier(usage);
  result.set_cache_write_tokens(usage.cache_write_tokens);
  result.set_completion_tokens(usage.completion_tokens);
  result.set_recomputed_tokens(usage.recomputed_tokens);
  result.set_miss_reason(ToMissReason(usage.miss_reason));
  return result;
}

v1::FinishReason ToFinishReason(FinishReason reason) {
  switch (reason) {
    case FinishReason::kStop:
      return v1::FINISH_REASON_STOP;
    case FinishReason::kLength:
      return v1::FINISH_REASON_LENGTH;
    case FinishReason::kCancelled:
      return v1::FINISH_REASON_CANCELLED;
    case FinishReason::kDeadline:
      return v1::FINISH_REASON_DEADLINE;
    case FinishReason::kShutdown:
      return v1::FINISH_REASON_SHUTDOWN;
  }
  return v1::FINISH_REASON_UNSPECIFIED;
}

v1::MissReason ToMissReason(MissReason reason) {
  switch (reason) {
    case MissReason::kNone:
      return v1::MISS_REASON_NONE;
    case MissReason::kNew:
      return v1::MISS_REASON_NEW;
    case MissReason::kShorterThanBlock:
      return v1::MISS_REASON_SHORTER_THAN_BLOCK;
    case MissReason::kDiverged:
      return v1::MISS_REASON_DIVERGED;
    case MissReason::kEvicted:
      return v1::MISS_REASON_EVICTED;
    case MissReason::kExpired:
      return v1::MISS_REASON_EXPIRED;
    case MissReason::kCachingOff:
      return v1::MISS_REASON_CACHING_OFF;
    case MissReason::kTierError:
      return v1::MISS_REASON_TIER_ERROR;
    case MissReason::kOtherTenant:
      return v1::MISS_REASON_NEW;
  }
  return v1::MISS_REASON_UNSPECIFIED;
}

}  // namespace headstart
