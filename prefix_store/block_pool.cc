#include "prefix_store/block_pool.h"

#include <memory>

#include "fmt/format.h"

namespace headstart {

BlockId BlockPool::Take() {
  const BlockId id = NewRecord();
  TakeDevice((*this)[id]);
  (*this)[id].leases = 1;
  return id;
}

BlockId BlockPool::NewRecord() {
  if (unused_.empty()) {
    if (records_ % kChunk == 0) chunks_.push_back(std::make_unique<Block[]>(kChunk));
    return BlockId{static_cast<uint32_t>(records_++)};
  }
  const BlockId id = unused_.back();
  unused_.pop_back();
  return id;
}

void BlockPool::Free(BlockId id) {
  Block& block = (*this)[id];
  GiveDevice(block);
  GiveHost(block);
  block = Block{};
  unused_.push_back(id);
}

absl::Status BlockPool::Check() const {
  if (const absl::Status status = CheckSlots(device_, &Block::device); !status.ok()) return status;
  if (const absl::Status status = CheckSlots(host_, &Block::host); !status.ok()) return status;
  int64_t idle = 0;
  for (uint32_t id = 0; id < records_; ++id) {
    const Block& block = (*this)[BlockId{id}];
    if (!block.held() && !block.cached()) ++idle;
  }
  if (idle == std::ssize(unused_)) return absl::OkStatus();
  return absl::InternalError(
      fmt::format("block pool: {} blocks that no one has, but {} unused records", idle, unused_.size()));
}

absl::Status BlockPool::CheckSlots(const SlotPool& slots, SlotIndex Block::*slot) const {
  std::vector<bool> taken(slots.size(), false);
  int64_t owned = 0;
  for (uint32_t id = 0; id < records_; ++id) {
    const Block& block = (*this)[BlockId{id}];
    if (block.*slot == kNoSlot) continue;
    if (taken[ToIndex(block.*slot)]) return absl::InternalError("block pool: a slot does not have exactly one block");
    taken[ToIndex(block.*slot)] = true;
    ++owned;
  }
  if (owned + slots.free() == slots.size()) return absl::OkStatus();
  return absl::InternalError(
      fmt::format("block pool: {} slots owned and {} free, of {}", owned, slots.free(), slots.size()));
}

}  // namespace headstart
