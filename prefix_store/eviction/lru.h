// Least recently used. With blocks tracked deepest first it equals the textbook rule on block traces: a request's hit
// is its longest run of leading cached blocks; then all its blocks are touched, deepest first.

#ifndef HEADSTART_PREFIX_STORE_EVICTION_LRU_H_
#define HEADSTART_PREFIX_STORE_EVICTION_LRU_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "prefix_store/eviction/block_queue.h"
#include "prefix_store/eviction/policy.h"

namespace headstart {

class LruPolicy : public EvictionPolicy {
 public:
  std::string_view name() const override { return "lru"; }
  void Track(BlockId block, const BlockFacts&) override { queue_.PushNewest(block); }
  void Untrack(BlockId block, UntrackReason) override { queue_.Remove(block); }
  std::optional<BlockId> Victim(AgeMs, absl::FunctionRef<bool(BlockId)> may_go) override {
    return queue_.FirstFromOldest(may_go);
  }
  bool Contains(BlockId block) const override { return queue_.Contains(block); }
  int64_t size() const override { return queue_.size(); }
  void Reset() override { queue_.Clear(); }
  void VisitCounters(absl::FunctionRef<void(std::string_view, int64_t)> visit) const override {
    visit("tracked_blocks", queue_.size());
  }

 private:
  BlockQueue queue_;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_EVICTION_LRU_H_
