#include "prefix_store/eviction/policy_kind.h"

#include <array>

#include "prefix_store/eviction/hit_density.h"
#include "prefix_store/eviction/lfu.h"
#include "prefix_store/eviction/lru.h"
#include "prefix_store/eviction/segmented_lru.h"

namespace headstart {
namespace {

struct NamedKind {
  EvictionPolicyKind kind;
  std::string_view name;
};
constexpr std::array kNames = {
    NamedKind{EvictionPolicyKind::kLru, "lru"},
    NamedKind{EvictionPolicyKind::kLfu, "lfu"},
    NamedKind{EvictionPolicyKind::kSegmentedLru, "segmented-lru"},
    NamedKind{EvictionPolicyKind::kHitDensity, "hit-density"},
};

}  // namespace

std::string_view EvictionPolicyName(EvictionPolicyKind kind) {
  for (const NamedKind& named : kNames) {
    if (named.kind == kind) return named.name;
  }
  return "unknown";
}

std::optional<EvictionPolicyKind> EvictionPolicyFromName(std::string_view name) {
  for (const NamedKind& named : kNames) {
    if (named.name == name) return named.kind;
  }
  return std::nullopt;
}

std::unique_ptr<EvictionPolicy> MakeEvictionPolicy(EvictionPolicyKind kind, int64_t capacity_blocks,
                                                   const ReuseModel& model) {
  switch (kind) {
    case EvictionPolicyKind::kLru:
      return std::make_unique<LruPolicy>();
    case EvictionPolicyKind::kLfu:
      return std::make_unique<LfuPolicy>();
    case EvictionPolicyKind::kSegmentedLru:
      return std::make_unique<SegmentedLruPolicy>(capacity_blocks);
    case EvictionPolicyKind::kHitDensity:
      break;
  }
  return std::make_unique<HitDensityPolicy>(model);
}

}  // namespace headstart
