// Sixteen lanes in AVX-512 registers. Included by avx512.cc alone; everything has internal linkage.
//
// Each simd_*.h defines the same vocabulary: F is 16 floats, I 16 int32, M a mask, BfWeights 16 pairs of bf16, BfInput
// one pair in all lanes, QuadWeights and QuadInput the same for fours of bytes.

#ifndef HEADSTART_KERNELS_CPU_SIMD_AVX512_H_
#define HEADSTART_KERNELS_CPU_SIMD_AVX512_H_

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#define HEADSTART_INLINE static inline __attribute__((always_inline))

namespace headstart::kernels {
namespace {

using F = __m512;
using I = __m512i;
using M = __mmask16;
using BfWeights = __m512bh;
using BfInput = __m512bh;
using QuadWeights = __m512i;
using QuadInput = __m512i;

// Rows of a linear tile: 12 rows × 32 outputs fill 24 of 32 registers and leave room for weights and a broadcast.
constexpr int kTileRows = 12;
// Groups of 32 outputs that a tile of few rows keeps in flight, so that one row alone has 8 independent sums.
constexpr int TileGroups(int rows) { return rows <= 2 ? 4 : rows <= 6 ? 2 : 1; }
// int8 tiles hold integer and float sums at once.
constexpr int kQuadTileRows = 6;
constexpr int QuadTileGroups(int rows) { return rows <= 1 ? 4 : rows <= 3 ? 2 : 1; }

HEADSTART_INLINE F Zero() { return _mm512_setzero_ps(); }
HEADSTART_INLINE F Set1(float x) { return _mm512_set1_ps(x); }
HEADSTART_INLINE F Load(const float* p) { return _mm512_loadu_ps(p); }
HEADSTART_INLINE void Store(float* p, F x) { _mm512_storeu_ps(p, x); }
HEADSTART_INLINE M FirstLanes(int n) { return static_cast<M>((1u << n) - 1); }
HEADSTART_INLINE F LoadFirst(const float* p, int n) { return _mm512_maskz_loadu_ps(FirstLanes(n), p); }
HEADSTART_INLINE void StoreFirst(float* p, F x, int n) { _mm512_mask_storeu_ps(p, FirstLanes(n), x); }

HEADSTART_INLINE F Add(F a, F b) { return _mm512_add_ps(a, b); }
HEADSTART_INLINE F Sub(F a, F b) { return _mm512_sub_ps(a, b); }
HEADSTART_INLINE F Mul(F a, F b) { return _mm512_mul_ps(a, b); }
HEADSTART_INLINE F Div(F a, F b) { return _mm512_div_ps(a, b); }
// a · b + c, rounded once.
HEADSTART_INLINE F Fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
// The second operand where either is NaN.
HEADSTART_INLINE F Max(F a, F b) { return _mm512_max_ps(a, b); }
HEADSTART_INLINE F Min(F a, F b) { return _mm512_min_ps(a, b); }
HEADSTART_INLINE F Abs(F a) { return _mm512_abs_ps(a); }
HEADSTART_INLINE F Round(F a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
HEADSTART_INLINE M Less(F a, F b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
HEADSTART_INLINE F Select(M m, F yes, F no) { return _mm512_mask_blend_ps(m, no, yes); }
// Lanes first .. last − 1.
HEADSTART_INLINE M LaneRange(int first, int last) { return static_cast<M>(((1u << last) - 1) & ~((1u << first) - 1)); }

// x · 2^n for whole n in [-126, 127].
HEADSTART_INLINE F ScaleByPowerOfTwo(F x, F n) {
  const I exponent = _mm512_slli_epi32(_mm512_add_epi32(_mm512_cvtps_epi32(n), _mm512_set1_epi32(127)), 23);
  return _mm512_mul_ps(x, _mm512_castsi512_ps(exponent));
}

HEADSTART_INLINE F WidenBf16(__m256i bits) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
}
HEADSTART_INLINE F LoadBf16(const uint16_t* p) {
  return WidenBf16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
HEADSTART_INLINE F LoadF16(const uint16_t* p) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
// To nearest, ties to even; NaN stays NaN. Not the instruction, which flushes subnormals.
HEADSTART_INLINE void StoreBf16(uint16_t* p, F x) {
  const I bits = _mm512_castps_si512(x);
  const I odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const I rounded = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
  const I quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x400000));
  const M nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
  const I chosen = _mm512_srli_epi32(_mm512_mask_blend_epi32(nan, rounded, quiet), 16);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi32_epi16(chosen));
}

HEADSTART_INLINE BfWeights LoadPairs(const std::byte* p) { return (BfWeights)_mm512_loadu_si512(p); }
// Lanes 0..7 from one place and 8..15 from another.
HEADSTART_INLINE BfWeights LoadPairs(const std::byte* low, const std::byte* high) {
  const __m512i first = _mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(low)));
  return (BfWeights)_mm512_inserti64x4(first, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(high)), 1);
}
HEADSTART_INLINE F Load(const float* low, const float* high) {
  return _mm512_insertf32x8(_mm512_castps256_ps512(_mm256_loadu_ps(low)), _mm256_loadu_ps(high), 1);
}
HEADSTART_INLINE BfInput BroadcastPair(const std::byte* p) {
  int pair;
  __builtin_memcpy(&pair, p, sizeof(pair));
  return (BfInput)_mm512_set1_epi32(pair);
}
HEADSTART_INLINE F DotPairs(F sum, BfWeights w, BfInput x) { return _mm512_dpbf16_ps(sum, w, x); }

HEADSTART_INLINE F ToFloat(I x) { return _mm512_cvtepi32_ps(x); }
HEADSTART_INLINE QuadWeights LoadQuads(const std::byte* p) { return _mm512_loadu_si512(p); }
HEADSTART_INLINE QuadInput BroadcastQuad(const std::byte* p) {
  int quad;
  __builtin_memcpy(&quad, p, sizeof(quad));
  return _mm512_set1_epi32(quad);
}
// Weights are stored with 128 added; starting from −128 · Σ input takes it away again, exactly.
HEADSTART_INLINE I QuadStart(int32_t input_sum) { return _mm512_set1_epi32(-128 * input_sum); }
HEADSTART_INLINE I DotQuads(I sum, QuadWeights w, QuadInput x) { return _mm512_dpbusd_epi32(sum, w, x); }

// Rounds to the nearest integer, ties to even, and stores 16 bytes; returns the integers.
HEADSTART_INLINE I StoreInt8(int8_t* p, F x) {
  const I whole = _mm512_cvtps_epi32(x);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(whole));
  return whole;
}
HEADSTART_INLINE int32_t SumLanes(I x) { return _mm512_reduce_add_epi32(x); }
HEADSTART_INLINE I AddInt(I a, I b) { return _mm512_add_epi32(a, b); }

}  // namespace
}  // namespace headstart::kernels

#endif  // HEADSTART_KERNELS_CPU_SIMD_AVX512_H_
