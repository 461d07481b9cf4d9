#include "kernels/cpu/packed_weights.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace headstart::kernels {
namespace {

constexpr int64_t kScaleBytes = 2;
constexpr int64_t kFileQuantBytes = kScaleBytes + kQuantBlock;
constexpr int64_t kQuantBytes = kGroupOutputs * (kQuantBlock + kScaleBytes);
constexpr int kQuad = 4;
constexpr uint8_t kOffset = 128;

uint16_t ReadU16(const std::byte* bytes) {
  uint16_t value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

float FloatFromBf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

float FloatFromF16(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t magnitude = static_cast<uint32_t>(bits & 0x7fff) << 13;
  constexpr uint32_t kInfinity = 0x7c00u << 13;
  // The multiplication moves the exponent's bias from 15 to 127, exactly, also for subnormals.
  const uint32_t wide = magnitude >= kInfinity ? magnitude | 0x7f800000u
                                               : std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
  return std::bit_cast<float>(wide | sign);
}

// Copies elements of `Size` bytes so that element k of output o lands at (k / run) · 32 · run + o · run + k % run.
template <int64_t Size, int64_t Run>
void PackElements(const std::byte* row, int64_t k, int64_t lane, std::byte* packed) {
  for (int64_t i = 0; i < k; ++i) {
    const int64_t place = (i / Run * kGroupOutputs + lane) * Run + i % Run;
    std::memcpy(packed + place * Size, row + i * Size, Size);
  }
}

void PackQuantized(const std::byte* row, int64_t k, int64_t lane, std::byte* packed) {
  for (int64_t block = 0; block < k / kQuantBlock; ++block) {
    const std::byte* from = row + block * kFileQuantBytes;
    std::byte* to = packed + block * kQuantBytes;
    std::memcpy(to + kGroupOutputs * kQuantBlock + lane * kScaleBytes, from, kScaleBytes);
    for (int64_t i = 0; i < kQuantBlock; ++i) {
      const int64_t place = (i / kQuad * kGroupOutputs + lane) * kQuad + i % kQuad;
      to[place] = from[kScaleBytes + i] ^ std::byte{kOffset};
    }
  }
}

void PackRow(WeightFormat format, const std::byte* row, int64_t k, int64_t lane, std::byte* packed) {
  switch (format) {
    case WeightFormat::kBf16:
      return PackElements<2, 2>(row, k, lane, packed);
    case WeightFormat::kF32:
      return PackElements<4, 1>(row, k, lane, packed);
    case WeightFormat::kF16:
      return PackElements<2, 1>(row, k, lane, packed);
    case WeightFormat::kQ8_0:
      return PackQuantized(row, k, lane, packed);
  }
}

void UnpackQuantized(const std::byte* packed, int64_t k, int64_t lane, float* out) {
  for (int64_t i = 0; i < k; ++i) {
    const std::byte* block = packed + i / kQuantBlock * kQuantBytes;
    const int64_t in_block = i % kQuantBlock;
    const int value = static_cast<int>(block[(in_block / kQuad * kGroupOutputs + lane) * kQuad + in_block % kQuad]);
    const float scale = FloatFromF16(ReadU16(block + kGroupOutputs * kQuantBlock + lane * kScaleBytes));
    out[i] = scale * static_cast<float>(value - kOffset);
  }
}

float ReadF32(const std::byte* bytes) {
  float value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

void DecodeQuantized(const std::byte* in, int64_t count, float* out) {
  for (int64_t i = 0; i < count; ++i) {
    const std::byte* block = in + i / kQuantBlock * kFileQuantBytes;
    const auto value = static_cast<int8_t>(block[kScaleBytes + i % kQuantBlock]);
    out[i] = FloatFromF16(ReadU16(block)) * static_cast<float>(value);
  }
}

}  // namespace

int64_t GroupCount(int64_t outputs) { return (outputs + kGroupOutputs - 1) / kGroupOutputs; }

int64_t GroupBytes(WeightFormat format, int64_t k) {
  switch (format) {
    case WeightFormat::kBf16:
      return (k + 1) / 2 * kGroupOutputs * 4;
    case WeightFormat::kF32:
      return k * kGroupOutputs * 4;
    case WeightFormat::kF16:
      return k * kGroupOutputs * 2;
    case WeightFormat::kQ8_0:
      return k / kQuantBlock * kQuantBytes;
  }
  return 0;
}

int64_t FileRowBytes(WeightFormat format, int64_t k) {
  switch (format) {
    case WeightFormat::kBf16:
    case WeightFormat::kF16:
      return k * 2;
    case WeightFormat::kF32:
      return k * 4;
    case WeightFormat::kQ8_0:
      return k / kQuantBlock * kFileQuantBytes;
  }
  return 0;
}

void PackGroup(WeightFormat format, const std::byte* rows, int64_t outputs, int64_t k, int64_t group,
               std::byte* packed) {
  const int64_t first = group * kGroupOutputs;
  const int64_t count = std::min<int64_t>(kGroupOutputs, outputs - first);
  std::memset(packed, 0, GroupBytes(format, k));
  for (int64_t lane = 0; lane < count; ++lane) {
    PackRow(format, rows + (first + lane) * FileRowBytes(format, k), k, lane, packed);
  }
}

void UnpackRow(WeightFormat format, const std::byte* packed, int64_t k, int64_t output, float* out) {
  const std::byte* group = packed + output / kGroupOutputs * GroupBytes(format, k);
  const int64_t lane = output % kGroupOutputs;
  switch (format) {
    case WeightFormat::kBf16:
      for (int64_t i = 0; i < k; ++i) {
        out[i] = FloatFromBf16(ReadU16(group + ((i / 2 * kGroupOutputs + lane) * 2 + i % 2) * 2));
      }
      return;
    case WeightFormat::kF32:
      for (int64_t i = 0; i < k; ++i) out[i] = ReadF32(group + (i * kGroupOutputs + lane) * 4);
      return;
    case WeightFormat::kF16:
      for (int64_t i = 0; i < k; ++i) out[i] = FloatFromF16(ReadU16(group + (i * kGroupOutputs + lane) * 2));
      return;
    case WeightFormat::kQ8_0:
      return UnpackQuantized(group, k, lane, out);
  }
}

void DecodeWeights(WeightFormat format, const std::byte* in, int64_t count, float* out) {
  switch (format) {
    case WeightFormat::kBf16:
      for (int64_t i = 0; i < count; ++i) out[i] = FloatFromBf16(ReadU16(in + i * 2));
      return;
    case WeightFormat::kF32:
      std::memcpy(out, in, count * sizeof(float));
      return;
    case WeightFormat::kF16:
      for (int64_t i = 0; i < count; ++i) out[i] = FloatFromF16(ReadU16(in + i * 2));
      return;
    case WeightFormat::kQ8_0:
      return DecodeQuantized(in, count, out);
  }
}

}  // namespace headstart::kernels
