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

// Copies one unit of `Size` bytes after the other from each row to its lane: unit u of lane l lands at (u · 32 + l) ·
// Size. Units go in runs that keep the 32 rows' pieces in the first-level cache.
template <int64_t Size>
void PackUnits(const std::byte* rows, int64_t row_bytes, int64_t lanes, std::byte* packed) {
  constexpr int64_t kRunUnits = 64 / Size;
  const int64_t units = row_bytes / Size;
  for (int64_t first = 0; first < units; first += kRunUnits) {
    const int64_t last = std::min(first + kRunUnits, units);
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const std::byte* row = rows + lane * row_bytes;
      for (int64_t unit = first; unit < last; ++unit) {
        std::memcpy(packed + (unit * kGroupOutputs + lane) * Size, row + unit * Size, Size);
      }
    }
  }
}

// The last weight of an odd k has no partner: its pair's other half stays zero.
void PackPairs(const std::byte* rows, int64_t k, int64_t lanes, std::byte* packed) {
  constexpr int64_t kPairBytes = 4;
  if (k % 2 == 0) return PackUnits<kPairBytes>(rows, k * 2, lanes, packed);
  for (int64_t lane = 0; lane < lanes; ++lane) {
    for (int64_t i = 0; i < k; ++i) {
      std::memcpy(packed + (i / 2 * kGroupOutputs + lane) * kPairBytes + i % 2 * 2, rows + (lane * k + i) * 2, 2);
    }
  }
}

// One row's block of 32: its scale, and its weights with 128 added, four at a time.
void PackQuantizedBlock(const std::byte* from, int64_t lane, std::byte* to) {
  constexpr uint32_t kOffsets = 0x80808080u;
  std::memcpy(to + kGroupOutputs * kQuantBlock + lane * kScaleBytes, from, kScaleBytes);
  for (int64_t quad = 0; quad < kQuantBlock / kQuad; ++quad) {
    uint32_t values;
    std::memcpy(&values, from + kScaleBytes + quad * kQuad, kQuad);
    values ^= kOffsets;
    std::memcpy(to + (quad * kGroupOutputs + lane) * kQuad, &values, kQuad);
  }
}

void PackQuantized(const std::byte* rows, int64_t k, int64_t lanes, std::byte* packed) {
  const int64_t blocks = k / kQuantBlock;
  for (int64_t block = 0; block < blocks; ++block) {
    for (int64_t lane = 0; lane < lanes; ++lane) {
      PackQuantizedBlock(rows + (lane * blocks + block) * kFileQuantBytes, lane, packed + block * kQuantBytes);
    }
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
  const int64_t lanes = std::min<int64_t>(kGroupOutputs, outputs - first);
  const std::byte* group_rows = rows + first * FileRowBytes(format, k);
  const bool padded = lanes < kGroupOutputs || (format == WeightFormat::kBf16 && k % 2 != 0);
  if (padded) std::memset(packed, 0, GroupBytes(format, k));
  switch (format) {
    case WeightFormat::kBf16:
      return PackPairs(group_rows, k, lanes, packed);
    case WeightFormat::kF32:
      return PackUnits<4>(group_rows, k * 4, lanes, packed);
    case WeightFormat::kF16:
      return PackUnits<2>(group_rows, k * 2, lanes, packed);
    case WeightFormat::kQ8_0:
      return PackQuantized(group_rows, k, lanes, packed);
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
