// Sixteen lanes in two AVX2 registers. Included by avx2.cc alone; everything has internal linkage. The vocabulary is
// that of simd_avx512.h.

#ifndef HEADSTART_KERNELS_CPU_SIMD_AVX2_H_
#define HEADSTART_KERNELS_CPU_SIMD_AVX2_H_

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#define HEADSTART_INLINE static inline __attribute__((always_inline))

namespace headstart::kernels {
namespace {

struct F {
  __m256 a, b;
};
struct I {
  __m256i a, b;
};
using M = F;  // all ones or all zeros in each lane
struct BfWeights {
  F even, odd;
};
using BfInput = BfWeights;
using QuadWeights = I;
using QuadInput = __m256i;

// Sixteen registers: two rows of 32 outputs fill eight.
constexpr int kTileRows = 2;
constexpr int TileGroups(int rows) { return rows <= 1 ? 2 : 1; }
constexpr int kQuadTileRows = 2;
constexpr int QuadTileGroups(int) { return 1; }

HEADSTART_INLINE F Zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
HEADSTART_INLINE F Set1(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
HEADSTART_INLINE F Load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
HEADSTART_INLINE F Load(const float* low, const float* high) { return {_mm256_loadu_ps(low), _mm256_loadu_ps(high)}; }
HEADSTART_INLINE void Store(float* p, F x) {
  _mm256_storeu_ps(p, x.a);
  _mm256_storeu_ps(p + 8, x.b);
}
HEADSTART_INLINE __m256i LaneNumbers() { return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7); }
HEADSTART_INLINE __m256 Below(int n) {
  return _mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_set1_epi32(n), LaneNumbers()));
}
HEADSTART_INLINE M FirstLanes(int n) { return {Below(n), Below(n - 8)}; }
HEADSTART_INLINE F LoadFirst(const float* p, int n) {
  const M m = FirstLanes(n);
  return {_mm256_maskload_ps(p, _mm256_castps_si256(m.a)), _mm256_maskload_ps(p + 8, _mm256_castps_si256(m.b))};
}
HEADSTART_INLINE void StoreFirst(float* p, F x, int n) {
  const M m = FirstLanes(n);
  _mm256_maskstore_ps(p, _mm256_castps_si256(m.a), x.a);
  _mm256_maskstore_ps(p + 8, _mm256_castps_si256(m.b), x.b);
}

HEADSTART_INLINE F Add(F x, F y) { return {_mm256_add_ps(x.a, y.a), _mm256_add_ps(x.b, y.b)}; }
HEADSTART_INLINE F Sub(F x, F y) { return {_mm256_sub_ps(x.a, y.a), _mm256_sub_ps(x.b, y.b)}; }
HEADSTART_INLINE F Mul(F x, F y) { return {_mm256_mul_ps(x.a, y.a), _mm256_mul_ps(x.b, y.b)}; }
HEADSTART_INLINE F Div(F x, F y) { return {_mm256_div_ps(x.a, y.a), _mm256_div_ps(x.b, y.b)}; }
HEADSTART_INLINE F Fma(F x, F y, F z) { return {_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)}; }
HEADSTART_INLINE F Max(F x, F y) { return {_mm256_max_ps(x.a, y.a), _mm256_max_ps(x.b, y.b)}; }
HEADSTART_INLINE F Min(F x, F y) { return {_mm256_min_ps(x.a, y.a), _mm256_min_ps(x.b, y.b)}; }
HEADSTART_INLINE F Abs(F x) {
  const __m256 sign = _mm256_set1_ps(-0.0f);
  return {_mm256_andnot_ps(sign, x.a), _mm256_andnot_ps(sign, x.b)};
}
HEADSTART_INLINE F Round(F x) {
  constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  return {_mm256_round_ps(x.a, kNearest), _mm256_round_ps(x.b, kNearest)};
}
HEADSTART_INLINE M Less(F x, F y) { return {_mm256_cmp_ps(x.a, y.a, _CMP_LT_OQ), _mm256_cmp_ps(x.b, y.b, _CMP_LT_OQ)}; }
HEADSTART_INLINE F Select(M m, F yes, F no) {
  return {_mm256_blendv_ps(no.a, yes.a, m.a), _mm256_blendv_ps(no.b, yes.b, m.b)};
}
HEADSTART_INLINE M LaneRange(int first, int last) {
  const M under = FirstLanes(first), to = FirstLanes(last);
  return {_mm256_andnot_ps(under.a, to.a), _mm256_andnot_ps(under.b, to.b)};
}

HEADSTART_INLINE __m256 PowerOfTwo(__m256 n) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23));
}
HEADSTART_INLINE F ScaleByPowerOfTwo(F x, F n) { return Mul(x, F{PowerOfTwo(n.a), PowerOfTwo(n.b)}); }

HEADSTART_INLINE __m128i LoadHalf(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }
HEADSTART_INLINE __m256 WidenBf16(__m128i bits) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}
HEADSTART_INLINE F LoadBf16(const uint16_t* p) { return {WidenBf16(LoadHalf(p)), WidenBf16(LoadHalf(p + 8))}; }
HEADSTART_INLINE F LoadF16(const uint16_t* p) {
  return {_mm256_cvtph_ps(LoadHalf(p)), _mm256_cvtph_ps(LoadHalf(p + 8))};
}
HEADSTART_INLINE __m256i RoundToBf16(__m256 x) {
  const __m256i bits = _mm256_castps_si256(x);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
  const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
  const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
  return _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, nan), 16);
}
HEADSTART_INLINE void StoreBf16(uint16_t* p, F x) {
  const __m256i packed = _mm256_packus_epi32(RoundToBf16(x.a), RoundToBf16(x.b));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm256_permute4x64_epi64(packed, 0xd8));
}

HEADSTART_INLINE __m256 EvenOfPairs(__m256i pairs) { return _mm256_castsi256_ps(_mm256_slli_epi32(pairs, 16)); }
HEADSTART_INLINE __m256 OddOfPairs(__m256i pairs) {
  return _mm256_castsi256_ps(_mm256_and_si256(pairs, _mm256_set1_epi32(static_cast<int>(0xffff0000u))));
}
HEADSTART_INLINE BfWeights LoadPairs(const std::byte* low, const std::byte* high) {
  const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(low));
  const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(high));
  return {{EvenOfPairs(a), EvenOfPairs(b)}, {OddOfPairs(a), OddOfPairs(b)}};
}
HEADSTART_INLINE BfWeights LoadPairs(const std::byte* p) { return LoadPairs(p, p + 32); }
HEADSTART_INLINE BfInput BroadcastPair(const std::byte* p) {
  int pair;
  __builtin_memcpy(&pair, p, sizeof(pair));
  const __m256i all = _mm256_set1_epi32(pair);
  return {{EvenOfPairs(all), EvenOfPairs(all)}, {OddOfPairs(all), OddOfPairs(all)}};
}
HEADSTART_INLINE F DotPairs(F sum, BfWeights w, BfInput x) { return Fma(w.odd, x.odd, Fma(w.even, x.even, sum)); }

HEADSTART_INLINE F ToFloat(I x) { return {_mm256_cvtepi32_ps(x.a), _mm256_cvtepi32_ps(x.b)}; }
// Weights are stored with 128 added; here they are wanted signed.
HEADSTART_INLINE QuadWeights LoadQuads(const std::byte* p) {
  const __m256i flip = _mm256_set1_epi8(static_cast<char>(0x80));
  return {_mm256_xor_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)), flip),
          _mm256_xor_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32)), flip)};
}
HEADSTART_INLINE QuadInput BroadcastQuad(const std::byte* p) {
  int quad;
  __builtin_memcpy(&quad, p, sizeof(quad));
  return _mm256_set1_epi32(quad);
}
HEADSTART_INLINE I QuadStart(int32_t) { return {_mm256_setzero_si256(), _mm256_setzero_si256()}; }
// |w| ≤ 128 and |x| ≤ 127, so the sum of two products is at most 32512 and the 16-bit addition cannot saturate.
HEADSTART_INLINE __m256i DotQuads(__m256i sum, __m256i w, __m256i x) {
  const __m256i twos = _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(x, w));
  return _mm256_add_epi32(sum, _mm256_madd_epi16(twos, _mm256_set1_epi16(1)));
}
HEADSTART_INLINE I DotQuads(I sum, QuadWeights w, QuadInput x) {
  return {DotQuads(sum.a, w.a, x), DotQuads(sum.b, w.b, x)};
}

HEADSTART_INLINE I StoreInt8(int8_t* p, F x) {
  const I whole = {_mm256_cvtps_epi32(x.a), _mm256_cvtps_epi32(x.b)};
  const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(whole.a, whole.b), 0xd8);
  const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), bytes);
  return whole;
}
HEADSTART_INLINE I AddInt(I x, I y) { return {_mm256_add_epi32(x.a, y.a), _mm256_add_epi32(x.b, y.b)}; }
HEADSTART_INLINE int32_t SumLanes(I x) {
  alignas(32) int32_t lanes[8];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), _mm256_add_epi32(x.a, x.b));
  int32_t sum = 0;
  for (const int32_t lane : lanes) sum += lane;
  return sum;
}

}  // namespace
}  // namespace headstart::kernels

#endif  // HEADSTART_KERNELS_CPU_SIMD_AVX2_H_
