#include "tests/kernels/kernel_test_data.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "kernels/cpu/packed_weights.h"

namespace headstart::kernels::testing {
namespace {

template <typename T>
void Append(std::vector<std::byte>& bytes, T value) {
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), first, first + sizeof(value));
}

// Random f16 bits of a normal number of magnitude 2^-4 .. 2^1.
uint16_t RandomF16(std::mt19937& random) {
  const uint32_t exponent = 11 + random() % 5;
  return static_cast<uint16_t>((random() & 0x8000) | exponent << 10 | (random() & 0x3ff));
}

float FromF16(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const double magnitude = std::ldexp(1024 + (bits & 0x3ff), exponent - 25);
  return static_cast<float>((bits & 0x8000) != 0 ? -magnitude : magnitude);
}

void AddQuantizedBlock(std::mt19937& random, FileWeights& weights) {
  const uint16_t scale = RandomF16(random) & 0x7fff;
  Append(weights.bytes, scale);
  for (int i = 0; i < kQuantBlock; ++i) {
    // −128 too: files made by other tools may hold it.
    const auto value = static_cast<int8_t>(static_cast<int>(random() % 256) - 128);
    Append(weights.bytes, value);
    weights.values.push_back(FromF16(scale) * static_cast<float>(value));
  }
}

void AddValue(WeightFormat format, std::mt19937& random, FileWeights& weights) {
  if (format == WeightFormat::kF16) {
    const uint16_t bits = RandomF16(random);
    Append(weights.bytes, bits);
    weights.values.push_back(FromF16(bits));
    return;
  }
  std::normal_distribution<float> normal;
  const float value = format == WeightFormat::kBf16 ? RoundToBf16(normal(random)) : normal(random);
  weights.values.push_back(value);
  if (format == WeightFormat::kF32) return Append(weights.bytes, value);
  Append(weights.bytes, static_cast<uint16_t>(Bits(value) >> 16));
}

}  // namespace

std::vector<float> RandomFloats(size_t count, uint32_t seed, float deviation) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, deviation);
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

FileWeights RandomWeights(WeightFormat format, int rows, int k, uint32_t seed) {
  std::mt19937 random(seed);
  FileWeights weights = {format, rows, k, {}, {}};
  const int64_t count = int64_t{rows} * k;
  if (format == WeightFormat::kQ8_0) {
    for (int64_t block = 0; block < count / kQuantBlock; ++block) AddQuantizedBlock(random, weights);
  } else {
    for (int64_t i = 0; i < count; ++i) AddValue(format, random, weights);
  }
  return weights;
}

float RoundToBf16(float value) {
  if (std::isnan(value) || std::isinf(value) || value == 0) return value;
  int exponent;
  std::frexp(value, &exponent);
  // Eight significant bits; nearbyint rounds ties to even.
  const double unit = std::ldexp(1.0, std::max(exponent - 8, -133));
  return static_cast<float>(std::nearbyint(value / unit) * unit);
}

uint32_t Bits(float value) { return std::bit_cast<uint32_t>(value); }

}  // namespace headstart::kernels::testing
