#include "prefix_store/eviction/segmented_lru.h"

namespace headstart {
namespace {

// Share of the pool that blocks found again may fill. The rest stays for newcomers: too little and a new conversation
// is gone before its second turn, too much and a scan takes room that hits had earned.
constexpr int64_t kProtectedPercent = 80;

}  // namespace

SegmentedLruPolicy::SegmentedLruPolicy(int64_t capacity_blocks)
    : protected_limit_(capacity_blocks * kProtectedPercent / 100) {}

void SegmentedLruPolicy::Track(BlockId block, const BlockFacts& facts) {
  if (facts.hits == 0) {
    probation_.PushNewest(block);
    return;
  }
  protected_.PushNewest(block);
  if (protected_.size() <= protected_limit_) return;
  const BlockId demoted = protected_.oldest();
  protected_.Remove(demoted);
  probation_.PushNewest(demoted);
  ++demotions_;
}

void SegmentedLruPolicy::Untrack(BlockId block, UntrackReason) {
  BlockQueue& queue = probation_.Contains(block) ? probation_ : protected_;
  queue.Remove(block);
}

std::optional<BlockId> SegmentedLruPolicy::Victim(AgeMs, absl::FunctionRef<bool(BlockId)> may_go) {
  const auto victim = probation_.FirstFromOldest(may_go);
  return victim ? victim : protected_.FirstFromOldest(may_go);
}

void SegmentedLruPolicy::Reset() {
  probation_.Clear();
  protected_.Clear();
}

void SegmentedLruPolicy::VisitCounters(absl::FunctionRef<void(std::string_view, int64_t)> visit) const {
  visit("probation_blocks", probation_.size());
  visit("protected_blocks", protected_.size());
  visit("demotions", demotions_);
}

}  // namespace headstart
