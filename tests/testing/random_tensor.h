// RandomTensor: weights of any dtype, made of random bits of that dtype, with what they decode to.
//
// Thread-safety: a plain value; the view is valid while it lives.

#ifndef HEADSTART_TESTS_TESTING_RANDOM_TENSOR_H_
#define HEADSTART_TESTS_TESTING_RANDOM_TENSOR_H_

#include <bit>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/model/tensor.h"
#include "kernels/reference/number_formats.h"

namespace headstart::testing {

// `count` values in [-1, 1).
inline std::vector<float> RandomValues(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = static_cast<float>(static_cast<int32_t>(random()) * 0x1p-31);
  return values;
}

class RandomTensor {
 public:
  RandomTensor(DType dtype, std::vector<int64_t> shape, uint32_t seed) : dtype_(dtype), shape_(std::move(shape)) {
    int64_t count = 1;
    for (int64_t size : shape_) count *= size;
    std::mt19937 random(seed);
    if (dtype == DType::kQ8_0) {
      for (int64_t block = 0; block < count / 32; ++block) AppendQ8Block(random);
    } else {
      for (float value : RandomValues(count, seed)) AppendNumber(value);
    }
    Decode(count);
  }

  TensorView view() const { return {.name = "random", .dtype = dtype_, .shape = shape_, .bytes = bytes_}; }
  const std::vector<float>& values() const { return values_; }

 private:
  template <typename T>
  void Append(T value) {
    const size_t end = bytes_.size();
    bytes_.resize(end + sizeof(T));
    std::memcpy(bytes_.data() + end, &value, sizeof(T));
  }

  void AppendNumber(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    switch (dtype_) {
      case DType::kF32:
        return Append(value);
      case DType::kBF16:
        return Append(static_cast<uint16_t>(bits >> 16));
      case DType::kF16:
        return Append(HalfOf(bits));
      case DType::kQ8_0:
        return;
    }
  }

  // Sign and mantissa of an f32 below 1 with an exponent between 2^-8 and 2^-1.
  static uint16_t HalfOf(uint32_t bits) {
    const uint32_t exponent = 7 + bits % 8;
    return static_cast<uint16_t>(((bits >> 16) & 0x8000) | (exponent << 10) | ((bits >> 13) & 0x3ff));
  }

  // A scale between 2^-9 and 2^-7, then 32 weights.
  void AppendQ8Block(std::mt19937& random) {
    Append(static_cast<uint16_t>(((6 + random() % 2) << 10) | (random() & 0x3ff)));
    for (int i = 0; i < 32; ++i) Append(static_cast<int8_t>(static_cast<int>(random() % 255) - 127));
  }

  void Decode(int64_t count) {
    values_.resize(static_cast<size_t>(count));
    switch (dtype_) {
      case DType::kF32:
        return kernels::reference::DecodeF32(bytes_.data(), count, values_.data());
      case DType::kBF16:
        return kernels::reference::DecodeBf16(bytes_.data(), count, values_.data());
      case DType::kF16:
        return kernels::reference::DecodeF16(bytes_.data(), count, values_.data());
      case DType::kQ8_0:
        return kernels::reference::DecodeQ8_0(bytes_.data(), count, values_.data());
    }
  }

  DType dtype_;
  std::vector<int64_t> shape_;
  std::vector<std::byte> bytes_;
  std::vector<float> values_;
};

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_TESTING_RANDOM_TENSOR_H_
