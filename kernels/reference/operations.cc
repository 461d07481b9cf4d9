#include "kernels/reference/operations.h"

#include <cmath>

namespace headstart::kernels::reference {

double Dot(const float* a, const float* b, int size) {
  double sum = 0;
  for (int i = 0; i < size; ++i) sum += double{a[i]} * double{b[i]};
  return sum;
}

void RmsNorm(const float* in, const float* weight, int size, float epsilon, float* out) {
  const double scale = 1 / std::sqrt(Dot(in, in, size) / size + double{epsilon});
  for (int i = 0; i < size; ++i) out[i] = static_cast<float>(double{in[i]} * scale * double{weight[i]});
}

void Linear(const float* in, const float* weight, const float* bias, int in_size, int out_size, float* out) {
  for (int o = 0; o < out_size; ++o) {
    const double sum = Dot(in, weight + int64_t{o} * in_size, in_size);
    out[o] = static_cast<float>(bias == nullptr ? sum : sum + double{bias[o]});
  }
}

void LinearAdd(const float* in, const float* weight, int in_size, int out_size, float* out) {
  for (int o = 0; o < out_size; ++o) {
    out[o] = static_cast<float>(double{out[o]} + Dot(in, weight + int64_t{o} * in_size, in_size));
  }
}

void Rope(const RopeTurn& turn, int32_t position, float* head) {
  for (int i = 0; i < turn.pairs; ++i) {
    float& first = head[turn.adjacent ? 2 * i : i];
    float& second = head[turn.adjacent ? 2 * i + 1 : i + turn.pairs];
    const double angle = double{turn.inverse_frequencies[i]} * position;
    const double cosine = std::cos(angle) * double{turn.magnitude};
    const double sine = std::sin(angle) * double{turn.magnitude};
    const double x = first;
    const double y = second;
    first = static_cast<float>(x * cosine - y * sine);
    second = static_cast<float>(x * sine + y * cosine);
  }
}

void SwiGlu(const float* gate, const float* up, int size, float* out) {
  for (int i = 0; i < size; ++i) {
    const double g = gate[i];
    out[i] = static_cast<float>(g / (1 + std::exp(-g)) * double{up[i]});
  }
}

}  // namespace headstart::kernels::reference
