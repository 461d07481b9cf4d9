// Attention of one query head over its keys and values, as its formula, in double.
//
// Thread-safety: pure functions.

#ifndef HEADSTART_KERNELS_REFERENCE_ATTENTION_H_
#define HEADSTART_KERNELS_REFERENCE_ATTENTION_H_

namespace headstart::kernels::reference {

// One head's keys and values in token order; pages have been gathered and decoded. [count, head_dim] each.
struct HeadContext {
  const float* keys;
  const float* values;
  int count;  // at least 1
  int head_dim;
};

// out = Σ softmax(scale · query · keyᵗ) · valueᵗ over the context's tokens, in their order. `weights` is scratch for
// `count`.
void Attention(const HeadContext& context, const float* query, double scale, double* weights, float* out);

}  // namespace headstart::kernels::reference

#endif  // HEADSTART_KERNELS_REFERENCE_ATTENTION_H_
