// Sixteen lanes in plain C++ with the compiler's generic vectors, for any processor. Included by portable.cc alone;
// everything has internal linkage. The vocabulary is that of simd_avx512.h.
//
// No fused multiply-add: without hardware for it std::fma is a slow library call. Fma here rounds twice, so this path's
// bits differ from the others', which the backend's numerics name says.

#ifndef HEADSTART_KERNELS_CPU_SIMD_PORTABLE_H_
#define HEADSTART_KERNELS_CPU_SIMD_PORTABLE_H_

#include <cstddef>
#include <cstdint>

#define HEADSTART_INLINE static inline __attribute__((always_inline))

namespace headstart::kernels {
namespace {

typedef float F __attribute__((vector_size(64)));
typedef int32_t I __attribute__((vector_size(64)));
typedef uint32_t U __attribute__((vector_size(64)));
typedef uint16_t Words __attribute__((vector_size(32)));
typedef int8_t Bytes __attribute__((vector_size(16)));
using M = I;  // all ones or all zeros in each lane
struct BfWeights {
  F even, odd;
};
struct BfInput {
  float even, odd;
};
struct QuadWeights {
  const std::byte* bytes;
};
struct QuadInput {
  int8_t values[4];
};

// Sixteen registers of four lanes, as the least capable processors have: one row of 32 outputs fills eight.
constexpr int kTileRows = 1;
constexpr int TileGroups(int) { return 1; }
constexpr int kQuadTileRows = 1;
constexpr int QuadTileGroups(int) { return 1; }

template <typename To, typename From>
HEADSTART_INLINE To BitCast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof(to));
  return to;
}

HEADSTART_INLINE F Zero() { return F{}; }
// Lane by lane: GCC makes shuffles of this, and a round trip through memory of F{} + x.
HEADSTART_INLINE F Set1(float x) { return F{x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x}; }
HEADSTART_INLINE F Load(const float* p) {
  F x;
  __builtin_memcpy(&x, p, sizeof(x));
  return x;
}
HEADSTART_INLINE F Load(const float* low, const float* high) {
  F x;
  __builtin_memcpy(&x, low, sizeof(x) / 2);
  __builtin_memcpy(reinterpret_cast<char*>(&x) + sizeof(x) / 2, high, sizeof(x) / 2);
  return x;
}
HEADSTART_INLINE void Store(float* p, F x) { __builtin_memcpy(p, &x, sizeof(x)); }
HEADSTART_INLINE F LoadFirst(const float* p, int n) {
  float lanes[16] = {};
  for (int i = 0; i < n; ++i) lanes[i] = p[i];
  return Load(lanes);
}
HEADSTART_INLINE void StoreFirst(float* p, F x, int n) {
  float lanes[16];
  Store(lanes, x);
  for (int i = 0; i < n; ++i) p[i] = lanes[i];
}

HEADSTART_INLINE F Add(F a, F b) { return a + b; }
HEADSTART_INLINE F Sub(F a, F b) { return a - b; }
HEADSTART_INLINE F Mul(F a, F b) { return a * b; }
HEADSTART_INLINE F Div(F a, F b) { return a / b; }
HEADSTART_INLINE F Fma(F a, F b, F c) { return a * b + c; }
HEADSTART_INLINE M Less(F a, F b) { return a < b; }
HEADSTART_INLINE F Select(M m, F yes, F no) { return BitCast<F>((BitCast<I>(yes) & m) | (BitCast<I>(no) & ~m)); }
// The second operand where either is NaN, as x86 has it.
HEADSTART_INLINE F Max(F a, F b) { return Select(a > b, a, b); }
HEADSTART_INLINE F Min(F a, F b) { return Select(a < b, a, b); }
HEADSTART_INLINE F Abs(F a) { return BitCast<F>(BitCast<I>(a) & 0x7fffffff); }
// Adding and taking away 1.5 · 2^23 leaves no room for a fraction. REQUIRES: |a| < 2^22.
HEADSTART_INLINE F Round(F a) {
  constexpr float kShift = 12582912.0f;
  return (a + kShift) - kShift;
}
HEADSTART_INLINE I LaneNumbers() { return I{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}; }
HEADSTART_INLINE M LaneRange(int first, int last) { return (LaneNumbers() >= first) & (LaneNumbers() < last); }

HEADSTART_INLINE I ToInt(F whole) { return __builtin_convertvector(whole, I); }
HEADSTART_INLINE F ToFloat(I x) { return __builtin_convertvector(x, F); }
HEADSTART_INLINE F ScaleByPowerOfTwo(F x, F n) { return x * BitCast<F>((ToInt(n) + 127) << 23); }

HEADSTART_INLINE float ToFloatFromBf16(uint16_t bits) { return BitCast<float>(static_cast<uint32_t>(bits) << 16); }
HEADSTART_INLINE U WidenWords(const uint16_t* p) {
  Words words;
  __builtin_memcpy(&words, p, sizeof(words));
  return __builtin_convertvector(words, U);
}
HEADSTART_INLINE F LoadBf16(const uint16_t* p) { return BitCast<F>(WidenWords(p) << 16); }
// Moves exponent and fraction into place and corrects the bias by a multiplication, exact also for subnormals.
HEADSTART_INLINE F LoadF16(const uint16_t* p) {
  const U bits = WidenWords(p);
  const U sign = (bits & 0x8000) << 16;
  const U magnitude = (bits & 0x7fff) << 13;
  const F scaled = BitCast<F>(magnitude) * 0x1p112f;
  const U special = BitCast<U>(I(magnitude >= 0x0f800000u));  // infinity or NaN
  const U finite = BitCast<U>(scaled);
  return BitCast<F>((((magnitude | 0x7f800000u) & special) | (finite & ~special)) | sign);
}
HEADSTART_INLINE void StoreBf16(uint16_t* p, F x) {
  const U bits = BitCast<U>(x);
  const U rounded = bits + 0x7fff + ((bits >> 16) & 1);
  const U nan = BitCast<U>(I(x != x));
  const U chosen = (((bits | 0x400000) & nan) | (rounded & ~nan)) >> 16;
  const Words words = __builtin_convertvector(chosen, Words);
  __builtin_memcpy(p, &words, sizeof(words));
}

HEADSTART_INLINE BfWeights SplitPairs(U pairs) { return {BitCast<F>(pairs << 16), BitCast<F>(pairs & 0xffff0000u)}; }
HEADSTART_INLINE BfWeights LoadPairs(const std::byte* p) {
  U pairs;
  __builtin_memcpy(&pairs, p, sizeof(pairs));
  return SplitPairs(pairs);
}
HEADSTART_INLINE BfWeights LoadPairs(const std::byte* low, const std::byte* high) {
  U pairs;
  __builtin_memcpy(&pairs, low, sizeof(pairs) / 2);
  __builtin_memcpy(reinterpret_cast<char*>(&pairs) + sizeof(pairs) / 2, high, sizeof(pairs) / 2);
  return SplitPairs(pairs);
}
HEADSTART_INLINE BfInput BroadcastPair(const std::byte* p) {
  uint16_t pair[2];
  __builtin_memcpy(pair, p, sizeof(pair));
  return {ToFloatFromBf16(pair[0]), ToFloatFromBf16(pair[1])};
}
HEADSTART_INLINE F DotPairs(F sum, BfWeights w, BfInput x) { return sum + w.even * Set1(x.even) + w.odd * Set1(x.odd); }

HEADSTART_INLINE QuadWeights LoadQuads(const std::byte* p) { return {p}; }
HEADSTART_INLINE QuadInput BroadcastQuad(const std::byte* p) {
  QuadInput input;
  __builtin_memcpy(input.values, p, sizeof(input.values));
  return input;
}
HEADSTART_INLINE I QuadStart(int32_t input_sum) { return I{} - 128 * input_sum; }
HEADSTART_INLINE I DotQuads(I sum, QuadWeights w, QuadInput x) {
  U quads;
  __builtin_memcpy(&quads, w.bytes, sizeof(quads));
  for (int j = 0; j < 4; ++j) sum += BitCast<I>((quads >> (8 * j)) & 0xff) * x.values[j];
  return sum;
}

HEADSTART_INLINE I StoreInt8(int8_t* p, F x) {
  const I whole = ToInt(Round(x));
  const Bytes bytes = __builtin_convertvector(whole, Bytes);
  __builtin_memcpy(p, &bytes, sizeof(bytes));
  return whole;
}
HEADSTART_INLINE I AddInt(I a, I b) { return a + b; }
HEADSTART_INLINE int32_t SumLanes(I x) {
  int32_t sum = 0;
  for (int i = 0; i < 16; ++i) sum += x[i];
  return sum;
}

}  // namespace
}  // namespace headstart::kernels

#endif  // HEADSTART_KERNELS_CPU_SIMD_PORTABLE_H_
