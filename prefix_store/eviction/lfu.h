// Least frequently used, the least recently used of those first, within the lowest priority that there is. A block is
// counted while it is cached; counts end at 1,023, from where it is LRU.
//
// Known for keeping what was popular once; it is here to be compared with.
//
// Thread-safety: none; the scheduler thread's. Memory: 12 bytes a block.

#ifndef HEADSTART_PREFIX_STORE_EVICTION_LFU_H_
#define HEADSTART_PREFIX_STORE_EVICTION_LFU_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "prefix_store/eviction/id_lists.h"
#include "prefix_store/eviction/policy.h"

namespace headstart {

class LfuPolicy : public EvictionPolicy {
 public:
  std::string_view name() const override { return "lfu"; }
  void Track(BlockId block, const BlockFacts& facts) override {
    const int priority = std::clamp<int>(facts.priority, -1, 1) + 1;
    lists_.PushNewest(priority * kCounts + static_cast<int>(std::min<uint32_t>(facts.hits, kCounts - 1)), block);
  }
  void Untrack(BlockId block, UntrackReason) override { lists_.Remove(block); }
  std::optional<BlockId> Victim(AgeMs, absl::FunctionRef<bool(BlockId)> may_go) override {
    for (int list = 0; list < kPriorities * kCounts; ++list) {
      if (const auto block = lists_.FirstFromOldest(list, may_go)) return block;
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
  static constexpr int kCounts = 1024;
  IdLists<BlockId> lists_{kPriorities * kCounts};
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_EVICTION_LFU_H_
