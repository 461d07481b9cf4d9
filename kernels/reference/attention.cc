#include "kernels/reference/attention.h"

#include <algorithm>
#include <cmath>

#include "kernels/reference/operations.h"

namespace headstart::kernels::reference {
namespace {

// Softmax of scores[0, count), in place.
void Softmax(double* scores, int count) {
  const double largest = *std::max_element(scores, scores + count);
  double sum = 0;
  for (int t = 0; t < count; ++t) sum += scores[t] = std::exp(scores[t] - largest);
  for (int t = 0; t < count; ++t) scores[t] /= sum;
}

}  // namespace

void Attention(const HeadContext& context, const float* query, double scale, double* weights, float* out) {
  const int dim = context.head_dim;
  for (int t = 0; t < context.count; ++t) weights[t] = scale * Dot(query, context.keys + t * dim, dim);
  Softmax(weights, context.count);
  for (int i = 0; i < dim; ++i) {
    double sum = 0;
    for (int t = 0; t < context.count; ++t) sum += weights[t] * double{context.values[t * dim + i]};
    out[i] = static_cast<float>(sum);
  }
}

}  // namespace headstart::kernels::reference
