// KvPages: the memory of all KV blocks. A block is one contiguous run, [layer][K | V][kv_head], each of these
// block_tokens × head_dim values:
//
//   K   tokens in groups of L = min(16, block_tokens), side by side: [block_tokens / L][steps][L][4 bytes], where a
//   step is a
//       pair of bf16 dimensions or one f32 dimension
//   V   [block_tokens][head_dim]
//
// Thread-safety: calls that touch different tokens may run at once.
// Places of tokens that were never stored hold anything.

#ifndef HEADSTART_ENGINE_BACKEND_CPU_KV_PAGES_H_
#define HEADSTART_ENGINE_BACKEND_CPU_KV_PAGES_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/backend/backend.h"
#include "engine/backend/cpu/memory_region.h"
#include "kernels/cpu/kernel_table.h"

namespace headstart {

class KvPages {
 public:
  static absl::StatusOr<KvPages> Allocate(const KvShape& shape, int64_t slots);

  const KvShape& shape() const { return shape_; }
  int block_tokens_log2() const { return block_tokens_log2_; }
  int key_lanes() const { return key_lanes_; }

  // The run of one layer and head in a slot.
  const std::byte* Keys(SlotIndex slot, int layer, int kv_head) const { return At(slot, layer, 0, kv_head); }
  const std::byte* Values(SlotIndex slot, int layer, int kv_head) const { return At(slot, layer, 1, kv_head); }
  // Bytes of 16 tokens' keys (8 when blocks hold 8).
  int64_t key_group_bytes() const { return int64_t{key_lanes_} * token_bytes_; }

  // Rounds one token's keys and values of one head, [head_dim] each, into its place.
  void Store(const kernels::KernelTable& kernels, SlotIndex slot, int layer, int kv_head, int token, const float* key,
             const float* value);

  void Copy(SlotIndex from, SlotIndex to, int tokens);
  void Read(SlotIndex slot, std::span<std::byte> bytes) const;
  void Write(SlotIndex slot, std::span<const std::byte> bytes);

 private:
  KvPages(const KvShape& shape, MemoryRegion memory);

  const std::byte* At(SlotIndex slot, int layer, int key_or_value, int kv_head) const {
    const int64_t run = (int64_t{layer} * 2 + key_or_value) * shape_.kv_heads + kv_head;
    return memory_.data() + ToIndex(slot) * block_bytes_ + run * run_bytes_;
  }
  std::byte* MutableAt(SlotIndex slot, int layer, int key_or_value, int kv_head) {
    return const_cast<std::byte*>(At(slot, layer, key_or_value, kv_head));
  }
  void CopyKeys(const std::byte* from, std::byte* to, int tokens) const;
  void StoreKey(const std::byte* encoded, int token, std::byte* keys) const;

  KvShape shape_;
  MemoryRegion memory_;
  int block_tokens_log2_;
  int key_lanes_;
  int64_t token_bytes_;  // of one token's keys, or values, of one head
  int64_t run_bytes_;
  int64_t block_bytes_;
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_BACKEND_CPU_KV_PAGES_H_
