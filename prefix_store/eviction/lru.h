// Least recently used, within the lowest priority that there is. With blocks tracked deepest first it equals the
// textbook rule on block traces: a request's hit is its longest run of leading cached blocks; then all its blocks are
// touched, deepest first.
//
// Thread-safety: none; the scheduler thread's. Memory: 12 bytes a block.

#ifndef HEADSTART_PREFIX_STORE_EVICTION_LRU_H_
#define HEADSTART_PREFIX_STORE_EVICTION_LRU_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "prefix_store/eviction/id_lists.h"
#include "prefix_store/eviction/policy.h"

namespace headstart {

class LruPolicy : public EvictionPolicy {
 public:
  std::string_view name() const override { return "lru"; }
  void Track(BlockId block, const BlockFacts& facts) override {
    lists_.PushNewest(std::clamp<int>(facts.priority, -1, 1) + 1, block);
  }
  void Untrack(BlockId block, UntrackReason) override { lists_.Remove(block); }
  std::optional<BlockId> Victim(AgeMs, absl::FunctionRef<bool(BlockId)> may_go) override {
    for (int priority = 0; priority < kPriorities; ++priority) {
      if (const auto block = lists_.FirstFromOldest(priority, may_go)) return block;
    }
    return std::nullopt;
  }
  bool Contains(BlockId block) const override { return lists_.Contains(block); }
  int64_t size() const override { return lists_.size(); }
  void Reset() override { lists_.Clear(); }
  void VisitCounters(absl::FunctionRef<void(std::string_view, int64_t)> visit) const override {
    visit("tracked_blocks", lists_.size());
  }

 private:
  static constexpr int kPriorities = 3;
  IdLists<BlockId> lists_{kPriorities};
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_EVICTION_LRU_H_
