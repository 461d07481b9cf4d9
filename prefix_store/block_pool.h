// BlockPool: the device's slots and the records of the blocks that lie in them.
//
// Thread-safety: none; the scheduler thread's.
// Invariant: every slot is free or belongs to exactly one block.

#ifndef HEADSTART_PREFIX_STORE_BLOCK_POOL_H_
#define HEADSTART_PREFIX_STORE_BLOCK_POOL_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "prefix_store/block.h"

namespace headstart {

class BlockPool {
 public:
  explicit BlockPool(int64_t slots);

  Block& operator[](BlockId id) { return blocks_[ToIndex(id)]; }
  const Block& operator[](BlockId id) const { return blocks_[ToIndex(id)]; }

  // A block on a free slot, held once by the caller. REQUIRES: free_blocks() > 0.
  BlockId Take();

  // REQUIRES: no one holds it and the tree does not have it.
  void Free(BlockId id);

  int64_t size() const { return static_cast<int64_t>(blocks_.size()); }
  int64_t free_blocks() const { return static_cast<int64_t>(free_.size()); }

  // INTERNAL when a slot has no owner or two.
  absl::Status Check() const;

 private:
  std::vector<Block> blocks_;
  std::vector<BlockId> free_;  // the last one is taken first: its bytes are the likeliest to be in a cache
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_BLOCK_POOL_H_
