// Packed weights: a matrix [outputs, k] laid out for the linear kernels, the same bytes on every instruction-set path.
// Outputs are taken in groups of 32 that lie side by side in lanes; a group holds its whole K, so a group is one
// contiguous run:
//
//   kBf16   [(k + 1) / 2][32][2] bf16    K in pairs, the last padded with zero
//   kF32    [k][32] f32
//   kF16    [k][32] f16
//   kQ8_0   [k / 32] × { [8][32][4] bytes: weight + 128;  [32] f16: scales }
//
// Outputs that do not exist are packed as zeros.
//
// Thread-safety: pure functions; different groups may be packed by different threads at once.

#ifndef HEADSTART_KERNELS_CPU_PACKED_WEIGHTS_H_
#define HEADSTART_KERNELS_CPU_PACKED_WEIGHTS_H_

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/kernel_table.h"

namespace headstart::kernels {

inline constexpr int kGroupOutputs = 32;
inline constexpr int kQuantBlock = 32;  // weights that share a scale in Q8_0

int64_t GroupCount(int64_t outputs);

// Bytes of one packed group; a multiple of 64, so that a 64-byte aligned matrix has aligned groups.
int64_t GroupBytes(WeightFormat format, int64_t k);

// Bytes of one row as the model file has it, in the format's own encoding.
int64_t FileRowBytes(WeightFormat format, int64_t k);

// Packs outputs 32 · group … of rows that lie back to back in `rows` (unaligned, little-endian, `outputs` of them).
// REQUIRES: k is a multiple of 32 for kQ8_0.
void PackGroup(WeightFormat format, const std::byte* rows, int64_t outputs, int64_t k, int64_t group,
               std::byte* packed);

// Row `output` of packed weights as f32; exact.
void UnpackRow(WeightFormat format, const std::byte* packed, int64_t k, int64_t output, float* out);

// Weights of a format to f32; exact. For vectors, which are not packed.
void DecodeWeights(WeightFormat format, const std::byte* in, int64_t count, float* out);

}  // namespace headstart::kernels

#endif  // HEADSTART_KERNELS_CPU_PACKED_WEIGHTS_H_
