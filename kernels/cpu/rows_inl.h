// Kernels over one row at a time: normalisation, rotation, activation, conversion. Sums go to a fixed number of lanes,
// then lanes are added in a fixed tree.

#ifndef HEADSTART_KERNELS_CPU_ROWS_INL_H_
#define HEADSTART_KERNELS_CPU_ROWS_INL_H_

#include "kernels/cpu/kernel_table.h"
#include "kernels/cpu/tile_inl.h"

namespace headstart::kernels {
namespace {

// exp(x): x = n · ln 2 + r with |r| ≤ ln 2 / 2; exp(r) = 1 + r + r² · p(r). The polynomial is the minimax fit of degree
// 4 for p, relative error 3.1e-9 on that range; rounding adds less than 2^-23 · 1.5. exp(0) is exactly 1. Below -87.3,
// where the result leaves the normal range, it is 0; above 88.3 it stays at exp(88.3). NaN gives NaN.
HEADSTART_INLINE F Exp(F x) {
  constexpr float kLowest = -87.3f, kHighest = 88.3f;
  constexpr float kLog2E = 1.44269504f;
  // ln 2 in two parts; the first has 10 trailing zero bits, so that n times it is exact.
  constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  const F clamped = Min(Set1(kHighest), Max(Set1(kLowest), x));
  const F n = Round(Mul(clamped, Set1(kLog2E)));
  const F r = Fma(n, Set1(-kLn2Low), Fma(n, Set1(-kLn2High), clamped));
  F p = Fma(Set1(0.00138145401768f), r, Set1(0.00836874510894f));
  p = Fma(p, r, Set1(0.0416683907835f));
  p = Fma(p, r, Set1(0.16666520399f));
  p = Fma(p, r, Set1(0.499999934321f));
  const F fraction = Fma(Mul(r, r), p, r);
  const F result = ScaleByPowerOfTwo(Add(Set1(1), fraction), n);
  return Select(Less(x, Set1(kLowest)), Zero(), result);
}

HEADSTART_INLINE float Exp1(float x) {
  float lanes[kLanes];
  Store(lanes, Exp(Set1(x)));
  return lanes[0];
}

HEADSTART_INLINE float AddLanes(F x) {
  float lanes[kLanes];
  Store(lanes, x);
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  return lanes[0];
}

HEADSTART_INLINE float MaxLane(F x) {
  float lanes[kLanes];
  Store(lanes, x);
  float max = lanes[0];
  for (int i = 1; i < kLanes; ++i) max = lanes[i] > max ? lanes[i] : max;
  return max;
}

HEADSTART_INLINE float SquareRoot(float x) { return __builtin_sqrtf(x); }

// Four sums side by side hide the latency of an addition; which element goes to which depends on `count` alone.
HEADSTART_INLINE float SumOfSquares(const float* in, int count) {
  constexpr int kSums = 4;
  F sums[kSums] = {Zero(), Zero(), Zero(), Zero()};
  int i = 0;
  for (; i + kSums * kLanes <= count; i += kSums * kLanes) {
    for (int s = 0; s < kSums; ++s) {
      const F x = Load(in + i + s * kLanes);
      sums[s] = Fma(x, x, sums[s]);
    }
  }
  for (; i < count; i += kLanes) {
    const F x = count - i >= kLanes ? Load(in + i) : LoadFirst(in + i, count - i);
    sums[0] = Fma(x, x, sums[0]);
  }
  return AddLanes(Add(Add(sums[0], sums[1]), Add(sums[2], sums[3])));
}

void RmsNorm(const float* in, const float* weight, int count, float epsilon, float* out) {
  const float mean = SumOfSquares(in, count) / static_cast<float>(count);
  const F factor = Set1(1.0f / SquareRoot(mean + epsilon));
  int i = 0;
  for (; i + kLanes <= count; i += kLanes) Store(out + i, Mul(Mul(Load(in + i), factor), Load(weight + i)));
  if (i == count) return;
  const int rest = count - i;
  StoreFirst(out + i, Mul(Mul(LoadFirst(in + i, rest), factor), LoadFirst(weight + i, rest)), rest);
}

void RopeHalves(float* head, const float* cosines, const float* sines, int pairs) {
  for (int i = 0; i < pairs; i += kLanes) {
    const int count = pairs - i < kLanes ? pairs - i : kLanes;
    const F x = LoadFirst(head + i, count), y = LoadFirst(head + pairs + i, count);
    const F c = LoadFirst(cosines + i, count), s = LoadFirst(sines + i, count);
    StoreFirst(head + i, Sub(Mul(x, c), Mul(y, s)), count);
    StoreFirst(head + pairs + i, Add(Mul(y, c), Mul(x, s)), count);
  }
}

void RopeAdjacent(float* head, const float* cosines, const float* sines, int pairs) {
  for (int i = 0; i < pairs; ++i) {
    const float x = head[2 * i], y = head[2 * i + 1];
    head[2 * i] = x * cosines[i] - y * sines[i];
    head[2 * i + 1] = y * cosines[i] + x * sines[i];
  }
}

HEADSTART_INLINE F Silu(F x) { return Div(x, Add(Set1(1), Exp(Sub(Zero(), x)))); }

void SwiGlu(const float* gate, const float* up, int count, float* out) {
  int i = 0;
  for (; i + kLanes <= count; i += kLanes) Store(out + i, Mul(Silu(Load(gate + i)), Load(up + i)));
  if (i == count) return;
  const int rest = count - i;
  StoreFirst(out + i, Mul(Silu(LoadFirst(gate + i, rest)), LoadFirst(up + i, rest)), rest);
}

void ExpRow(const float* in, int count, float* out) {
  for (int i = 0; i < count; i += kLanes) {
    const int n = count - i < kLanes ? count - i : kLanes;
    StoreFirst(out + i, Exp(LoadFirst(in + i, n)), n);
  }
}

void ToBf16(const float* in, int count, uint16_t* out) {
  int i = 0;
  for (; i + kLanes <= count; i += kLanes) StoreBf16(out + i, Load(in + i));
  if (i == count) return;
  uint16_t rest[kLanes];
  StoreBf16(rest, LoadFirst(in + i, count - i));
  for (int j = 0; i + j < count + count % 2; ++j) out[i + j] = rest[j];
}

// One block of 32: the scale maps the largest magnitude to 127. Magnitudes under 2^-100 count as zero, since 127
// divided by them may overflow. A NaN or an infinity makes the scale NaN, and with it every output of the row.
HEADSTART_INLINE void QuantizeBlock(const float* in, int8_t* values, float* scale, int32_t* sum) {
  constexpr float kLargest = 127.0f;
  constexpr float kNegligible = 0x1p-100f;
  const F low = Load(in), high = Load(in + kLanes);
  const float magnitude = MaxLane(Max(Abs(low), Abs(high)));
  const float poison = AddLanes(Add(Mul(low, Zero()), Mul(high, Zero())));
  const bool negligible = magnitude < kNegligible;
  const F inverse = Set1(negligible ? 0.0f : kLargest / magnitude);
  const F bound = Set1(kLargest), negative_bound = Set1(-kLargest);
  const I a = StoreInt8(values, Min(Max(Mul(low, inverse), negative_bound), bound));
  const I b = StoreInt8(values + kLanes, Min(Max(Mul(high, inverse), negative_bound), bound));
  *scale = (negligible ? 0.0f : magnitude / kLargest) + poison;
  *sum = SumLanes(AddInt(a, b));
}

void Quantize(const float* in, int count, const QuantizedRow& out) {
  constexpr int kBlock = 32;
  for (int i = 0; i < count / kBlock; ++i) {
    QuantizeBlock(in + i * kBlock, out.values + i * kBlock, out.scales + i, out.sums + i);
  }
}

}  // namespace
}  // namespace headstart::kernels

#endif  // HEADSTART_KERNELS_CPU_ROWS_INL_H_
