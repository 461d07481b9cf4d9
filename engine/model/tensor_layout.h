// Checks that readers of every format make on a tensor's shape and place, in arithmetic that cannot overflow.
//
// Thread-safety: pure functions.

#ifndef HEADSTART_ENGINE_MODEL_TENSOR_LAYOUT_H_
#define HEADSTART_ENGINE_MODEL_TENSOR_LAYOUT_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/model/tensor.h"

namespace headstart {

// No file of one machine is larger; below it, no sum or product of two checked sizes overflows 64 bits.
inline constexpr int64_t kMaxTensorBytes = int64_t{1} << 46;

// Bytes of a tensor of that shape; nothing when they pass kMaxTensorBytes, when a dimension is negative, or when rows
// are not whole blocks of the type.
inline std::optional<int64_t> TensorBytes(DType dtype, std::span<const int64_t> shape) {
  int64_t count = 1;
  for (const int64_t dimension : shape) {
    if (dimension < 0 || dimension > kMaxTensorBytes) return std::nullopt;
    if (dimension != 0 && count > kMaxTensorBytes / dimension) return std::nullopt;
    count *= dimension;
  }
  const int64_t row = shape.empty() ? 1 : shape.back();
  if (dtype == DType::kQ8_0 && row % kQ8BlockWeights != 0) return std::nullopt;
  return DTypeBytes(dtype, count);
}

// Whether two of the tensors share bytes of their file.
inline bool AnyOverlap(std::span<const TensorView> tensors) {
  std::vector<std::span<const std::byte>> places;
  for (const TensorView& tensor : tensors) {
    if (!tensor.bytes.empty()) places.push_back(tensor.bytes);
  }
  std::sort(places.begin(), places.end(), [](auto a, auto b) { return a.data() < b.data(); });
  return std::adjacent_find(places.begin(), places.end(),
                            [](auto a, auto b) { return a.data() + a.size() > b.data(); }) != places.end();
}

}  // namespace headstart

#endif  // HEADSTART_ENGINE_MODEL_TENSOR_LAYOUT_H_
