#include "engine/model/number_formats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace headstart {
namespace {

// Drops the low `bits` bits, to nearest, ties to even.
uint32_t RoundShift(uint32_t value, int bits) {
  const uint32_t half = 1u << (bits - 1);
  const uint32_t odd = (value >> bits) & 1;
  return (value + half - 1 + odd) >> bits;
}

template <typename T>
void Put(T value, std::byte* place) {
  std::memcpy(place, &value, sizeof(value));
}

template <typename T>
T Get(const std::byte* place) {
  T value;
  std::memcpy(&value, place, sizeof(value));
  return value;
}

void EncodeQ8Block(const float* weights, std::byte* block) {
  float largest = 0;
  for (int i = 0; i < kQ8BlockWeights; ++i) largest = std::max(largest, std::fabs(weights[i]));
  const float scale = largest / 127;
  const float inverse = scale > 0 ? 1 / scale : 0;
  Put(ToF16(scale), block);
  for (int i = 0; i < kQ8BlockWeights; ++i) Put(static_cast<int8_t>(std::round(weights[i] * inverse)), block + 2 + i);
}

void DecodeQ8Block(const std::byte* block, float* weights) {
  const float scale = FromF16(Get<uint16_t>(block));
  for (int i = 0; i < kQ8BlockWeights; ++i) weights[i] = scale * static_cast<float>(Get<int8_t>(block + 2 + i));
}

}  // namespace

uint16_t ToBF16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>(RoundShift(bits, 16));
}

float FromBF16(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

uint16_t ToF16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  uint32_t half = 0;
  if (magnitude > 0x7f800000) {
    half = 0x7e00;
  } else if (exponent > 15) {
    half = 0x7c00;
  } else if (exponent >= -14) {
    half = RoundShift(magnitude - (112u << 23), 13);  // re-biased; a carry into the exponent is what rounding up means
  } else if (exponent >= -25) {
    half = RoundShift((magnitude & 0x7fffff) | 0x800000, -exponent - 1);  // subnormal: counts of 2^-24
  }
  return static_cast<uint16_t>(sign | half);
}

float FromF16(uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f;
  const auto fraction = static_cast<float>(bits & 0x3ff);
  const float sign = bits & 0x8000 ? -1.0f : 1.0f;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  if (exponent == 31) return fraction == 0 ? sign * INFINITY : NAN;
  return sign * std::ldexp(fraction + 1024, exponent - 25);
}

void EncodeRow(DType dtype, std::span<const float> row, std::span<std::byte> bytes) {
  if (dtype == DType::kF32) {
    std::memcpy(bytes.data(), row.data(), bytes.size());
  } else if (dtype == DType::kQ8_0) {
    for (size_t i = 0; i < row.size() / kQ8BlockWeights; ++i) {
      EncodeQ8Block(row.data() + i * kQ8BlockWeights, bytes.data() + i * kQ8BlockBytes);
    }
  } else {
    for (size_t i = 0; i < row.size(); ++i) {
      Put(dtype == DType::kBF16 ? ToBF16(row[i]) : ToF16(row[i]), bytes.data() + 2 * i);
    }
  }
}

void DecodeRow(DType dtype, std::span<const std::byte> bytes, std::span<float> row) {
  if (dtype == DType::kF32) {
    std::memcpy(row.data(), bytes.data(), bytes.size());
  } else if (dtype == DType::kQ8_0) {
    for (size_t i = 0; i < row.size() / kQ8BlockWeights; ++i) {
      DecodeQ8Block(bytes.data() + i * kQ8BlockBytes, row.data() + i * kQ8BlockWeights);
    }
  } else {
    for (size_t i = 0; i < row.size(); ++i) {
      const auto bits = Get<uint16_t>(bytes.data() + 2 * i);
      row[i] = dtype == DType::kBF16 ? FromBF16(bits) : FromF16(bits);
    }
  }
}

}  // namespace headstart
