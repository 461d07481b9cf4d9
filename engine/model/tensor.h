// TensorView: a named tensor as it lies in a model file. A view: the file it came from outlives it.

#ifndef HEADSTART_ENGINE_MODEL_TENSOR_H_
#define HEADSTART_ENGINE_MODEL_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headstart {

enum class DType {
  kF32,
  kF16,
  kBF16,
  kQ8_0,  // blocks of 32 weights along a row: an f16 scale, then 32 int8
};

// A Q8_0 block: a two-byte scale and 32 one-byte weights.
inline constexpr int64_t kQ8BlockWeights = 32;
inline constexpr int64_t kQ8BlockBytes = 34;

// "F32", "F16", "BF16", "Q8_0".
std::string_view DTypeName(DType dtype);

// Bytes that `count` consecutive weights take. REQUIRES: for kQ8_0, count is a multiple of 32.
int64_t DTypeBytes(DType dtype, int64_t count);

struct TensorView {
  std::string name;  // as the file calls it
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;  // row-major, outermost first: [out, in] for a linear layer, whatever the file's order
  std::span<const std::byte> bytes;  // exactly DTypeBytes(dtype, product of shape); alignment is not promised
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_MODEL_TENSOR_H_
