// GhostList: the hashes of prefixes evicted lately, so that a miss can say "evicted" and not "new".
//
// Thread-safety: none; the scheduler thread's.
// Bounded: the oldest is forgotten for the newest. A colliding hash can make a reason wrong, never a hit.

#ifndef HEADSTART_PREFIX_STORE_GHOST_LIST_H_
#define HEADSTART_PREFIX_STORE_GHOST_LIST_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_set.h"

namespace headstart {

class GhostList {
 public:
  explicit GhostList(int64_t capacity) : capacity_(static_cast<size_t>(capacity)) {}

  void Remember(uint64_t hash) {
    if (!hashes_.insert(hash).second) return;
    if (order_.size() < capacity_) {
      order_.push_back(hash);
      return;
    }
    hashes_.erase(order_[oldest_]);
    order_[oldest_] = hash;
    oldest_ = (oldest_ + 1) % capacity_;
  }

  bool Contains(uint64_t hash) const { return hashes_.contains(hash); }
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
  absl::flat_hash_set<uint64_t> hashes_;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_GHOST_LIST_H_
