#include "prefix_store/eviction/block_queue.h"

#include <algorithm>

namespace headstart {

BlockQueue::BlockQueue() : links_(1, Link{kEnd, kEnd}) {}

void BlockQueue::PushNewest(BlockId block) {
  const auto place = static_cast<uint32_t>(Place(block));
  if (place >= links_.size()) links_.resize(size_t{place} + 1);
  const uint32_t newest = links_[kEnd].older;
  links_[place] = {newest, kEnd};
  links_[newest].newer = place;
  links_[kEnd].older = place;
  ++size_;
}

void BlockQueue::Remove(BlockId block) {
  Link& link = links_[Place(block)];
  links_[link.older].newer = link.newer;
  links_[link.newer].older = link.older;
  link = Link{};
  --size_;
}

std::optional<BlockId> BlockQueue::FirstFromOldest(absl::FunctionRef<bool(BlockId)> accept) const {
  for (uint32_t place = links_[kEnd].newer; place != kEnd; place = links_[place].newer) {
    if (accept(BlockId{place - 1})) return BlockId{place - 1};
  }
  return std::nullopt;
}

void BlockQueue::Clear() {
  std::fill(links_.begin(), links_.end(), Link{});
  links_[kEnd] = {kEnd, kEnd};
  size_ = 0;
}

}  // namespace headstart
