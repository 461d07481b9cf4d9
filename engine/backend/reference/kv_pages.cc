#include "engine/backend/reference/kv_pages.h"

#include <cstring>
#include <utility>

#include "absl/status/statusor.h"
#include "engine/backend/reference/allocate.h"
#include "fmt/format.h"
#include "kernels/reference/number_formats.h"

namespace headstart {

absl::Status ReferenceKvPages::Allocate(const KvShape& shape, int64_t slots) {
  if (bytes_ != nullptr) return absl::FailedPreconditionError("KV pages were allocated before; make a new backend");
  if (shape.dtype != DType::kBF16 && shape.dtype != DType::kF32) {
    return absl::InvalidArgumentError("KV dtype: the reference backend keeps pages in BF16 or F32");
  }
  absl::StatusOr<std::unique_ptr<std::byte[]>> bytes =
      AllocateArray<std::byte>(slots, shape.bytes_per_block(), "KV pages");
  if (!bytes.ok()) return bytes.status();
  shape_ = shape;
  bytes_ = *std::move(bytes);
  return absl::OkStatus();
}

int64_t ReferenceKvPages::VectorBytes() const {
  return int64_t{shape_.head_dim} * (shape_.dtype == DType::kF32 ? 4 : 2);
}

std::byte* ReferenceKvPages::At(const ReferenceKvPlace& place) const {
  const int64_t head = (int64_t{place.layer} * 2 + static_cast<int>(place.part)) * shape_.kv_heads + place.head;
  const int64_t vector = head * shape_.block_tokens + place.token;
  return bytes_.get() + ToIndex(place.slot) * shape_.bytes_per_block() + vector * VectorBytes();
}

void ReferenceKvPages::Write(const ReferenceKvPlace& place, const float* values) {
  std::byte* out = At(place);
  if (shape_.dtype == DType::kF32) {
    std::memcpy(out, values, static_cast<size_t>(VectorBytes()));
    return;
  }
  for (int i = 0; i < shape_.head_dim; ++i) {
    const uint16_t bits = kernels::reference::Bf16FromF32(values[i]);
    std::memcpy(out + i * sizeof(bits), &bits, sizeof(bits));
  }
}

void ReferenceKvPages::Read(const ReferenceKvPlace& place, float* values) const {
  if (shape_.dtype == DType::kF32) return kernels::reference::DecodeF32(At(place), shape_.head_dim, values);
  kernels::reference::DecodeBf16(At(place), shape_.head_dim, values);
}

void ReferenceKvPages::Copy(SlotIndex from, SlotIndex to, int tokens) {
  for (int layer = 0; layer < shape_.layers; ++layer) {
    for (ReferenceKvPart part : {ReferenceKvPart::kKey, ReferenceKvPart::kValue}) {
      for (int head = 0; head < shape_.kv_heads; ++head) {
        std::memcpy(At({to, layer, part, head, 0}), At({from, layer, part, head, 0}),
                    static_cast<size_t>(tokens * VectorBytes()));
      }
    }
  }
}

std::span<std::byte> ReferenceKvPages::Slot(SlotIndex slot) {
  return {At({.slot = slot}), static_cast<size_t>(shape_.bytes_per_block())};
}

}  // namespace headstart
