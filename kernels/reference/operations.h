// The operations of a transformer on one row each, written as their formulas: every sum and every intermediate value is
// a double, added in index order, and rounded to f32 once at the end. The oracle that other kernels are measured
// against.
//
// Thread-safety: pure functions.
// `in` and `out` may be the same row where a function says "in place"; otherwise they do not overlap.

#ifndef HEADSTART_KERNELS_REFERENCE_OPERATIONS_H_
#define HEADSTART_KERNELS_REFERENCE_OPERATIONS_H_

#include <cstdint>

namespace headstart::kernels::reference {

// Σ a[i] · b[i]
double Dot(const float* a, const float* b, int size);

// out[i] = in[i] · weight[i] / sqrt(mean(in²) + epsilon); in place allowed.
void RmsNorm(const float* in, const float* weight, int size, float epsilon, float* out);

// out[o] = in · weight[o] + bias[o]; weight is [out_size, in_size]; bias may be null.
void Linear(const float* in, const float* weight, const float* bias, int in_size, int out_size, float* out);

// out[o] += in · weight[o]
void LinearAdd(const float* in, const float* weight, int in_size, int out_size, float* out);

// Turns each pair of one head by position · inverse_frequencies[pair], in place. The pair i is (i, i + pairs) or, with
// adjacent, (2i, 2i + 1).
struct RopeTurn {
  const float* inverse_frequencies;  // [pairs]
  int pairs;
  bool adjacent;
  float magnitude;
};
void Rope(const RopeTurn& turn, int32_t position, float* head);

// out[i] = gate[i] / (1 + exp(−gate[i])) · up[i]
void SwiGlu(const float* gate, const float* up, int size, float* out);

}  // namespace headstart::kernels::reference

#endif  // HEADSTART_KERNELS_REFERENCE_OPERATIONS_H_
