// Segmented LRU: blocks that were found again are kept apart from blocks seen once, so that a scan of one-shot prompts
// pushes out other one-shot prompts and not the prefixes that everyone uses.
//
//   tracked with no hit  -> newest of probation        victims: oldest of probation, then oldest of protected
//   tracked with a hit   -> newest of protected        protected over its share: its oldest becomes newest of probation
//
// A parent has at least the hits of its child and is tracked after it, so it never lies nearer to eviction.

#ifndef HEADSTART_PREFIX_STORE_EVICTION_SEGMENTED_LRU_H_
#define HEADSTART_PREFIX_STORE_EVICTION_SEGMENTED_LRU_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "prefix_store/eviction/block_queue.h"
#include "prefix_store/eviction/policy.h"

namespace headstart {

class SegmentedLruPolicy : public EvictionPolicy {
 public:
  explicit SegmentedLruPolicy(int64_t capacity_blocks);

  std::string_view name() const override { return "segmented-lru"; }
  void Track(BlockId block, const BlockFacts& facts) override;
  void Untrack(BlockId block, UntrackReason reason) override;
  std::optional<BlockId> Victim(AgeMs now, absl::FunctionRef<bool(BlockId)> may_go) override;
  bool Contains(BlockId block) const override { return probation_.Contains(block) || protected_.Contains(block); }
  int64_t size() const override { return probation_.size() + protected_.size(); }
  void Reset() override;
  void VisitCounters(absl::FunctionRef<void(std::string_view, int64_t)> visit) const override;

 private:
  int64_t protected_limit_;
  int64_t demotions_ = 0;
  BlockQueue probation_;
  BlockQueue protected_;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_EVICTION_SEGMENTED_LRU_H_
