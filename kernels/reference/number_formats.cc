#include "kernels/reference/number_formats.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace headstart::kernels::reference {
namespace {

constexpr int kQ8BlockWeights = 32;
constexpr int kQ8BlockBytes = sizeof(uint16_t) + kQ8BlockWeights;

uint16_t ReadU16(const std::byte* bytes) {
  uint16_t value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

}  // namespace

float F32FromBf16(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

float F32FromF16(uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const int mantissa = bits & 0x3ff;
  const float sign = (bits & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == 0x1f) return mantissa == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(mantissa | 0x400), exponent - 25);
}

uint16_t Bf16FromF32(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40);  // stays NaN when its low half is cut off
  const uint32_t round_to_even = 0x7fff + ((bits >> 16) & 1);
  return static_cast<uint16_t>((bits + round_to_even) >> 16);
}

void DecodeF32(const std::byte* bytes, int64_t count, float* out) {
  std::memcpy(out, bytes, static_cast<size_t>(count) * sizeof(float));
}

void DecodeF16(const std::byte* bytes, int64_t count, float* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = F32FromF16(ReadU16(bytes + 2 * i));
}

void DecodeBf16(const std::byte* bytes, int64_t count, float* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = F32FromBf16(ReadU16(bytes + 2 * i));
}

void DecodeQ8_0(const std::byte* bytes, int64_t count, float* out) {
  for (int64_t block = 0; block < count / kQ8BlockWeights; ++block) {
    const std::byte* in = bytes + block * kQ8BlockBytes;
    const float scale = F32FromF16(ReadU16(in));
    for (int i = 0; i < kQ8BlockWeights; ++i) {
      out[block * kQ8BlockWeights + i] = scale * static_cast<float>(static_cast<int8_t>(in[sizeof(uint16_t) + i]));
    }
  }
}

}  // namespace headstart::kernels::reference
