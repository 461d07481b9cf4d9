// SlotPool: which slots of a tier that is memory are free.
//
// Thread-safety: none; the scheduler thread's.

#ifndef HEADSTART_PREFIX_STORE_SLOT_POOL_H_
#define HEADSTART_PREFIX_STORE_SLOT_POOL_H_

#include <cstdint>
#include <vector>

#include "prefix_store/types.h"

namespace headstart {

class SlotPool {
 public:
  explicit SlotPool(int64_t slots) : size_(slots) {
    free_.reserve(slots);
    for (int64_t i = slots - 1; i >= 0; --i) free_.push_back(SlotIndex{static_cast<uint32_t>(i)});
  }

  // REQUIRES: free() > 0. The one given back last: its bytes are the likeliest to be in a cache.
  SlotIndex Take() {
    const SlotIndex slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void Give(SlotIndex slot) { free_.push_back(slot); }

  int64_t size() const { return size_; }
  int64_t free() const { return static_cast<int64_t>(free_.size()); }

 private:
  int64_t size_;
  std::vector<SlotIndex> free_;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_SLOT_POOL_H_
