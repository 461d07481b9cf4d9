// Number formats of model files and KV pages, turned to and from f32. Every conversion to f32 here is exact.
//
// Thread-safety: pure functions.
// Bytes need no alignment; values are little-endian, as the files have them.

#ifndef HEADSTART_KERNELS_REFERENCE_NUMBER_FORMATS_H_
#define HEADSTART_KERNELS_REFERENCE_NUMBER_FORMATS_H_

#include <cstddef>
#include <cstdint>

namespace headstart::kernels::reference {

float F32FromBf16(uint16_t bits);
float F32FromF16(uint16_t bits);

// To nearest, ties to even; overflow gives infinity, NaN stays NaN.
uint16_t Bf16FromF32(float value);

void DecodeF32(const std::byte* bytes, int64_t count, float* out);
void DecodeF16(const std::byte* bytes, int64_t count, float* out);
void DecodeBf16(const std::byte* bytes, int64_t count, float* out);

// Blocks of 32 weights: an f16 scale, then 32 int8. REQUIRES: count is a multiple of 32.
// Exact: 11 bits of scale times 8 bits of weight fit the 24 bits of an f32.
void DecodeQ8_0(const std::byte* bytes, int64_t count, float* out);

}  // namespace headstart::kernels::reference

#endif  // HEADSTART_KERNELS_REFERENCE_NUMBER_FORMATS_H_
