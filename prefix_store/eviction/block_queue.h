// BlockQueue: blocks from oldest to newest, with removal from the middle in constant time and no allocation.
//
// Thread-safety: none.

#ifndef HEADSTART_PREFIX_STORE_EVICTION_BLOCK_QUEUE_H_
#define HEADSTART_PREFIX_STORE_EVICTION_BLOCK_QUEUE_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "prefix_store/types.h"

namespace headstart {

class BlockQueue {
 public:
  BlockQueue();

  // Room for ids up to `block` is made as they come. REQUIRES: it is not queued.
  void PushNewest(BlockId block);

  // REQUIRES: it is queued.
  void Remove(BlockId block);

  // The first from the oldest on that `accept` agrees to.
  std::optional<BlockId> FirstFromOldest(absl::FunctionRef<bool(BlockId)> accept) const;

  // REQUIRES: size() > 0.
  BlockId oldest() const { return BlockId{links_[kEnd].newer - 1}; }

  bool Contains(BlockId block) const { return Place(block) < links_.size() && links_[Place(block)].newer != kOut; }
  int64_t size() const { return size_; }
  void Clear();

 private:
  static constexpr uint32_t kOut = std::numeric_limits<uint32_t>::max();
  struct Link {
    uint32_t older = kOut;
    uint32_t newer = kOut;
  };

  static size_t Place(BlockId block) { return size_t{ToIndex(block)} + 1; }

  static constexpr uint32_t kEnd = 0;  // closes the ring: newer of it is the oldest block
  std::vector<Link> links_;            // of block b at b + 1
  int64_t size_ = 0;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_EVICTION_BLOCK_QUEUE_H_
