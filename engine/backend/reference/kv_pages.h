// KV pages of the reference backend: slot after slot, and within a slot [layer][K|V][head][token][dim], each value in
// the shape's dtype. One slot is one contiguous run of bytes.
//
// Thread-safety: none.
// REQUIRES, for all methods: Allocate returned OK, and indices are within the shape.

#ifndef HEADSTART_ENGINE_BACKEND_REFERENCE_KV_PAGES_H_
#define HEADSTART_ENGINE_BACKEND_REFERENCE_KV_PAGES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "engine/backend/backend.h"

namespace headstart {

enum class ReferenceKvPart { kKey = 0, kValue = 1 };

// One head's vector of one token.
struct ReferenceKvPlace {
  SlotIndex slot{};
  int layer = 0;
  ReferenceKvPart part = ReferenceKvPart::kKey;
  int head = 0;
  int token = 0;  // in its block
};

class ReferenceKvPages {
 public:
  absl::Status Allocate(const KvShape& shape, int64_t slots);

  const KvShape& shape() const { return shape_; }
  void Write(const ReferenceKvPlace& place, const float* values);  // [head_dim], rounded to the dtype
  void Read(const ReferenceKvPlace& place, float* values) const;   // [head_dim]
  void Copy(SlotIndex from, SlotIndex to, int tokens);             // the first `tokens`, every layer and head
  std::span<std::byte> Slot(SlotIndex slot);

 private:
  int64_t VectorBytes() const;
  std::byte* At(const ReferenceKvPlace& place) const;

  KvShape shape_;
  std::unique_ptr<std::byte[]> bytes_;
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_BACKEND_REFERENCE_KV_PAGES_H_
