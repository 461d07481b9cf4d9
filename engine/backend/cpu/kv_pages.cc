#include "engine/backend/cpu/kv_pages.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "fmt/format.h"

namespace headstart {
namespace {

constexpr int kMinBlockTokens = 8;
constexpr int kMaxBlockTokens = kernels::kSpanKeys;
constexpr int64_t kStepBytes = 4;  // a pair of bf16 dimensions or one f32

absl::Status Check(const KvShape& shape, int64_t slots) {
  if (shape.dtype != DType::kBF16 && shape.dtype != DType::kF32) {
    return absl::InvalidArgumentError("kv_dtype: the CPU backend stores KV as BF16 or F32");
  }
  const int tokens = shape.block_tokens;
  if (tokens < kMinBlockTokens || tokens > kMaxBlockTokens || !std::has_single_bit(static_cast<unsigned>(tokens))) {
    return absl::InvalidArgumentError(
        fmt::format("block_tokens: {} is not a power of two from {} to {}", tokens, kMinBlockTokens, kMaxBlockTokens));
  }
  if (shape.layers < 1 || shape.kv_heads < 1 || shape.head_dim < 2 || shape.head_dim % 2 != 0) {
    return absl::InvalidArgumentError(fmt::format("KV shape: {} layers of {} heads of {} dimensions; the last is even",
                                                  shape.layers, shape.kv_heads, shape.head_dim));
  }
  if (slots < 1 || slots > std::numeric_limits<int64_t>::max() / 2 / shape.bytes_per_block()) {
    return absl::InvalidArgumentError(fmt::format("slots: {} KV blocks of {} bytes", slots, shape.bytes_per_block()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<KvPages> KvPages::Allocate(const KvShape& shape, int64_t slots) {
  if (absl::Status status = Check(shape, slots); !status.ok()) return status;
  absl::StatusOr<MemoryRegion> memory = MemoryRegion::Allocate(slots * shape.bytes_per_block(), "KV blocks");
  if (!memory.ok()) return memory.status();
  return KvPages(shape, *std::move(memory));
}

KvPages::KvPages(const KvShape& shape, MemoryRegion memory)
    : shape_(shape),
      memory_(std::move(memory)),
      block_tokens_log2_(std::countr_zero(static_cast<unsigned>(shape.block_tokens))),
      key_lanes_(std::min(kernels::kKeyLanes, shape.block_tokens)),
      token_bytes_(int64_t{shape.head_dim} * (shape.dtype == DType::kF32 ? 4 : 2)),
      run_bytes_(token_bytes_ * shape.block_tokens),
      block_bytes_(shape.bytes_per_block()) {}

void KvPages::Store(const kernels::KernelTable& kernels, SlotIndex slot, int layer, int kv_head, int token,
                    const float* key, const float* value) {
  std::byte* keys = MutableAt(slot, layer, 0, kv_head);
  std::byte* values = MutableAt(slot, layer, 1, kv_head) + token * token_bytes_;
  if (shape_.dtype == DType::kF32) {
    StoreKey(reinterpret_cast<const std::byte*>(key), token, keys);
    std::memcpy(values, value, token_bytes_);
    return;
  }
  // The value's place serves as scratch for the key first.
  auto* encoded = reinterpret_cast<uint16_t*>(values);
  kernels.to_bf16(key, shape_.head_dim, encoded);
  StoreKey(values, token, keys);
  kernels.to_bf16(value, shape_.head_dim, encoded);
}

void KvPages::StoreKey(const std::byte* encoded, int token, std::byte* keys) const {
  std::byte* lane = keys + token / key_lanes_ * key_group_bytes() + token % key_lanes_ * kStepBytes;
  const int64_t stride = key_lanes_ * kStepBytes;
  for (int64_t step = 0; step < token_bytes_ / kStepBytes; ++step) {
    std::memcpy(lane + step * stride, encoded + step * kStepBytes, kStepBytes);
  }
}

void KvPages::CopyKeys(const std::byte* from, std::byte* to, int tokens) const {
  const int64_t whole = tokens / key_lanes_ * key_group_bytes();
  std::memcpy(to, from, whole);
  const int64_t rest = tokens % key_lanes_ * kStepBytes;
  if (rest == 0) return;
  const int64_t stride = key_lanes_ * kStepBytes;
  for (int64_t at = whole; at < whole + key_group_bytes(); at += stride) std::memcpy(to + at, from + at, rest);
}

void KvPages::Copy(SlotIndex from, SlotIndex to, int tokens) {
  if (from == to) return;
  for (int layer = 0; layer < shape_.layers; ++layer) {
    for (int head = 0; head < shape_.kv_heads; ++head) {
      CopyKeys(Keys(from, layer, head), MutableAt(to, layer, 0, head), tokens);
      std::memcpy(MutableAt(to, layer, 1, head), Values(from, layer, head), tokens * token_bytes_);
    }
  }
}

void KvPages::Read(SlotIndex slot, std::span<std::byte> bytes) const {
  std::memcpy(bytes.data(), At(slot, 0, 0, 0), block_bytes_);
}

void KvPages::Write(SlotIndex slot, std::span<const std::byte> bytes) {
  std::memcpy(MutableAt(slot, 0, 0, 0), bytes.data(), block_bytes_);
}

}  // namespace headstart
