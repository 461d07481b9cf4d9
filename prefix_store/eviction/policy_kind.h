// The eviction policies there are, by name.
//
// Thread-safety: pure functions.
//
//   ReuseModel model;
//   auto policy = MakeEvictionPolicy(EvictionPolicyKind::kHitDensity, 4096, model);

#ifndef HEADSTART_PREFIX_STORE_EVICTION_POLICY_KIND_H_
#define HEADSTART_PREFIX_STORE_EVICTION_POLICY_KIND_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "prefix_store/eviction/policy.h"
#include "prefix_store/eviction/reuse_model.h"

namespace headstart {

enum class EvictionPolicyKind {
  kLru,
  kLfu,
  kSegmentedLru,
  kHitDensity,  // the one to use
};

std::string_view EvictionPolicyName(EvictionPolicyKind kind);  // "lru", "lfu", "segmented-lru", "hit-density"
std::optional<EvictionPolicyKind> EvictionPolicyFromName(std::string_view name);

// For a tier of `capacity_blocks`. `model` outlives the policy; only kHitDensity looks at it.
std::unique_ptr<EvictionPolicy> MakeEvictionPolicy(EvictionPolicyKind kind, int64_t capacity_blocks,
                                                   const ReuseModel& model);

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_EVICTION_POLICY_KIND_H_
