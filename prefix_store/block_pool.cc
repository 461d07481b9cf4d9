#include "prefix_store/block_pool.h"

#include <algorithm>

#include "fmt/format.h"

namespace headstart {

BlockPool::BlockPool(int64_t slots) : blocks_(slots) {
  free_.reserve(slots);
  for (int64_t i = slots - 1; i >= 0; --i) {
    blocks_[i].slot = SlotIndex{static_cast<uint32_t>(i)};
    free_.push_back(BlockId{static_cast<uint32_t>(i)});
  }
}

BlockId BlockPool::Take() {
  const BlockId id = free_.back();
  free_.pop_back();
  (*this)[id].leases = 1;
  return id;
}

void BlockPool::Free(BlockId id) {
  Block& block = (*this)[id];
  block = Block{.slot = block.slot};
  free_.push_back(id);
}

absl::Status BlockPool::Check() const {
  std::vector<int> owners(blocks_.size(), 0);
  for (const Block& block : blocks_) ++owners[ToIndex(block.slot)];
  if (std::any_of(owners.begin(), owners.end(), [](int n) { return n != 1; })) {
    return absl::InternalError("block pool: a slot does not have exactly one block");
  }
  const auto unheld = std::count_if(blocks_.begin(), blocks_.end(),
                                    [](const Block& block) { return block.leases == 0 && !block.cached(); });
  if (unheld != free_blocks()) {
    return absl::InternalError(
        fmt::format("block pool: {} blocks that no one has, but {} on the free list", unheld, free_blocks()));
  }
  return absl::OkStatus();
}

}  // namespace headstart
