#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/model/model_config.h"

namespace headstart {
namespace {

// All in double; rounded to float once, at the end.
using Frequencies = std::vector<double>;

Frequencies Unscaled(const ModelConfig& config) {
  Frequencies inverse(static_cast<size_t>(config.head_dim) / 2);
  for (size_t i = 0; i < inverse.size(); ++i) {
    inverse[i] = std::pow(config.rope_theta, -2.0 * static_cast<double>(i) / config.head_dim);
  }
  return inverse;
}

// Llama 3.1: waves longer than the trained context are stretched, short ones kept, those between blended.
double Llama3(double frequency, const RopeScaling& scaling) {
  const double wavelength = 2 * std::numbers::pi / frequency;
  const double rotations = scaling.original_max_positions / wavelength;
  if (rotations > scaling.high_freq_factor) return frequency;
  if (rotations < scaling.low_freq_factor) return frequency / scaling.factor;
  const double smooth = (rotations - scaling.low_freq_factor) / (scaling.high_freq_factor - scaling.low_freq_factor);
  return (1 - smooth) * frequency / scaling.factor + smooth * frequency;
}

// The dimension pair, as a real number, whose wave turns `rotations` times within the trained context.
double YarnDimension(const ModelConfig& config, double rotations) {
  return config.head_dim * std::log(config.rope_scaling.original_max_positions / (rotations * 2 * std::numbers::pi)) /
         (2 * std::log(config.rope_theta));
}

// YaRN, "NTK-by-parts": pairs below `low` keep their frequency, above `high` it is divided by the factor, a ramp
// between.
void ApplyYarn(const ModelConfig& config, Frequencies& inverse) {
  const RopeScaling& scaling = config.rope_scaling;
  double low = YarnDimension(config, scaling.beta_fast);
  double high = YarnDimension(config, scaling.beta_slow);
  if (scaling.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, config.head_dim - 1.0);
  if (low == high) high += 0.001;  // as transformers does, against a division by zero
  for (size_t i = 0; i < inverse.size(); ++i) {
    const double ramp = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    inverse[i] = inverse[i] / scaling.factor * ramp + inverse[i] * (1 - ramp);
  }
}

void ApplyScaling(const ModelConfig& config, Frequencies& inverse) {
  const RopeScaling& scaling = config.rope_scaling;
  switch (scaling.kind) {
    case RopeScalingKind::kNone:
      return;
    case RopeScalingKind::kLinear:
      for (double& frequency : inverse) frequency /= scaling.factor;
      return;
    case RopeScalingKind::kLlama3:
      for (double& frequency : inverse) frequency = Llama3(frequency, scaling);
      return;
    case RopeScalingKind::kYarn:
      ApplyYarn(config, inverse);
      return;
  }
}

double Magnitude(const RopeScaling& scaling) {
  if (scaling.kind != RopeScalingKind::kYarn) return 1;
  if (scaling.attention_factor > 0) return scaling.attention_factor;
  return scaling.factor <= 1 ? 1 : 0.1 * std::log(scaling.factor) + 1;
}

}  // namespace

RopeFrequencies ComputeRopeFrequencies(const ModelConfig& config) {
  Frequencies inverse = Unscaled(config);
  ApplyScaling(config, inverse);
  const auto& divisors = config.rope_scaling.divisors;
  for (size_t i = 0; i < divisors.size(); ++i) inverse[i] /= divisors[i];
  return {.inverse = std::vector<float>(inverse.begin(), inverse.end()),
          .magnitude = static_cast<float>(Magnitude(config.rope_scaling))};
}

}  // namespace headstart
