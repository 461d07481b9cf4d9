#include "prefix_store/eviction/block_queue.h"

#include <algorithm>

namespace headstart {

BlockQueue::BlockQueue(int64_t capacity) : links_(capacity + 1), end_(static_cast<uint32_t>(capacity)) {
  links_[end_] = {end_, end_};
}

void BlockQueue::PushNewest(BlockId block) {
  const uint32_t id = ToIndex(block);
  const uint32_t newest = links_[end_].older;
  links_[id] = {newest, end_};
  links_[newest].newer = id;
  links_[end_].older = id;
  ++size_;
}

void BlockQueue::Remove(BlockId block) {
  Link& link = links_[ToIndex(block)];
  links_[link.older].newer = link.newer;
  links_[link.newer].older = link.older;
  link = Link{};
  --size_;
}

std::optional<BlockId> BlockQueue::FirstFromOldest(absl::FunctionRef<bool(BlockId)> accept) const {
  for (uint32_t id = links_[end_].newer; id != end_; id = links_[id].newer) {
    if (accept(BlockId{id})) return BlockId{id};
  }
  return std::nullopt;
}

void BlockQueue::Clear() {
  std::fill(links_.begin(), links_.end(), Link{});
  links_[end_] = {end_, end_};
  size_ = 0;
}

}  // namespace headstart
