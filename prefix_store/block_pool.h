// BlockPool: the records of all blocks that the store knows, and the slots of device and host memory that they lie in.
// There are as many slots as the tiers have; records come and go with the blocks.
//
// Thread-safety: none; the scheduler thread's.
// Invariant: every slot is free or belongs to exactly one block.

#ifndef HEADSTART_PREFIX_STORE_BLOCK_POOL_H_
#define HEADSTART_PREFIX_STORE_BLOCK_POOL_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "prefix_store/block.h"
#include "prefix_store/slot_pool.h"

namespace headstart {

class BlockPool {
 public:
  explicit BlockPool(int64_t device_slots, int64_t host_slots = 0) : device_(device_slots), host_(host_slots) {}

  Block& operator[](BlockId id) { return chunks_[ToIndex(id) / kChunk][ToIndex(id) % kChunk]; }
  const Block& operator[](BlockId id) const { return chunks_[ToIndex(id) / kChunk][ToIndex(id) % kChunk]; }

  // A block on a free device slot, held once by the caller. REQUIRES: device().free() > 0.
  BlockId Take();

  // A record without bytes.
  BlockId NewRecord();

  // REQUIRES: the block has no slot there and one is free.
  void TakeDevice(Block& block) { block.device = device_.Take(); }
  void TakeHost(Block& block) { block.host = host_.Take(); }

  // Nothing when the block has no slot there.
  void GiveDevice(Block& block) { Give(device_, block.device); }
  void GiveHost(Block& block) { Give(host_, block.host); }

  // Forgets the record and gives its slots back. REQUIRES: no one holds it and the tree does not have it.
  void Free(BlockId id);

  const SlotPool& device() const { return device_; }
  const SlotPool& host() const { return host_; }
  int64_t records() const { return records_; }  // ids are below it
  int64_t blocks() const { return records() - static_cast<int64_t>(unused_.size()); }

  // INTERNAL when a slot has no owner or two.
  absl::Status Check() const;

 private:
  static void Give(SlotPool& slots, SlotIndex& slot) {
    if (slot == kNoSlot) return;
    slots.Give(slot);
    slot = kNoSlot;
  }
  absl::Status CheckSlots(const SlotPool& slots, SlotIndex Block::*slot) const;

  // Records grow without moving, so that a reference to one lives as long as its block.
  static constexpr uint32_t kChunk = 4096;
  std::vector<std::unique_ptr<Block[]>> chunks_;
  int64_t records_ = 0;
  std::vector<BlockId> unused_;
  SlotPool device_;
  SlotPool host_;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_BLOCK_POOL_H_
