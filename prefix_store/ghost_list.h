// GhostList: the hashes of prefixes that went lately, and why, so that a miss can say "evicted", "expired" or "tier
// error" and not "new".
//
// Thread-safety: none; the scheduler thread's.
// Bounded: the oldest is forgotten for the newest. A colliding hash can make a reason wrong, never a hit.

#ifndef HEADSTART_PREFIX_STORE_GHOST_LIST_H_
#define HEADSTART_PREFIX_STORE_GHOST_LIST_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace headstart {

// Why a block left the cache.
enum class Gone : uint8_t {
  kEvicted,
  kExpired,
  kTierError,  // the tier that it lay in did not give it back
};

class GhostList {
 public:
  explicit GhostList(int64_t capacity) : capacity_(static_cast<size_t>(capacity)) {}

  // Of one that went twice, the last reason counts.
  void Remember(uint64_t hash, Gone why) {
    if (!hashes_.insert_or_assign(hash, why).second) return;
    if (order_.size() < capacity_) {
      order_.push_back(hash);
      return;
    }
    hashes_.erase(order_[oldest_]);
    order_[oldest_] = hash;
    oldest_ = (oldest_ + 1) % capacity_;
  }

  std::optional<Gone> Find(uint64_t hash) const {
    const auto found = hashes_.find(hash);
    return found == hashes_.end() ? std::nullopt : std::optional<Gone>(found->second);
  }
  bool empty() const { return hashes_.empty(); }

  void Clear() {
    hashes_.clear();
    order_.clear();
    oldest_ = 0;
  }

 private:
  size_t capacity_;
  std::vector<uint64_t> order_;  // a ring once it is full
  size_t oldest_ = 0;
  absl::flat_hash_map<uint64_t, Gone> hashes_;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_GHOST_LIST_H_
