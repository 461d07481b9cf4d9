#include "engine/model/synth_weights.h"

#include <cmath>

#include "engine/model/number_formats.h"
#include "engine/model/synth_tokenizer.h"
#include "engine/model/weight_names.h"

namespace headstart {
namespace {

// SplitMix64's finaliser: a bijection of 64 bits in which every input bit moves about half of the output bits.
uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

constexpr uint64_t kStep = 0x9e3779b97f4a7c15;  // SplitMix64's increment

// The sum of four 16-bit uniforms, centred: close to a normal distribution, within ±3.5 deviations, and without a
// logarithm whose last bit could differ between machines.
float NearlyNormal(uint64_t bits) {
  constexpr int kMean = 2 * 65535;
  constexpr float kDeviation = 37837.2f;  // sqrt(4 · (65536² − 1) / 12)
  const auto sum = static_cast<int>((bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48));
  return static_cast<float>(sum - kMean) / kDeviation;
}

// Control tokens get small logits: answers end at their limit and not at random.
constexpr float kControlShare = 0.25f;

struct Spread {
  float mean;
  float deviation;
};

// Matrices keep the size of what goes through them: deviation 1/√in. Embeddings make tied logits of deviation 2: wide
// enough for a clear maximum, and small beside what the layers add to the residual stream, so that a token does not
// predict itself.
Spread SpreadOf(const ModelConfig& config, WeightRole role) {
  switch (role) {
    case WeightRole::kOutputNorm:
    case WeightRole::kAttentionNorm:
    case WeightRole::kMlpNorm:
    case WeightRole::kQueryNorm:
    case WeightRole::kKeyNorm:
      return {1, 0.1f};
    case WeightRole::kQueryBias:
    case WeightRole::kKeyBias:
    case WeightRole::kValueBias:
      return {0, 0.2f};
    case WeightRole::kEmbedding:
    case WeightRole::kOutput:
      return {0, 2 / std::sqrt(static_cast<float>(config.hidden_size))};
    case WeightRole::kAttentionOutput:
    case WeightRole::kDown:
      return {0, 3 / std::sqrt(static_cast<float>(WeightShape(config, role).back()))};
    default:
      return {0, 1 / std::sqrt(static_cast<float>(WeightShape(config, role).back()))};
  }
}

}  // namespace

void SynthWeights::Row(WeightName name, int64_t row, std::span<float> values) const {
  Spread spread = SpreadOf(config_, name.role);
  const bool is_token = name.role == WeightRole::kEmbedding || name.role == WeightRole::kOutput;
  if (is_token && IsSynthControlToken(row)) spread.deviation *= kControlShare;
  const auto role = static_cast<uint64_t>(name.role);
  const uint64_t stream = Mix(Mix(seed_ + kStep * (role + 1)) + kStep * (static_cast<uint64_t>(name.layer) + 1));
  const uint64_t start = Mix(stream + kStep * static_cast<uint64_t>(row));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = spread.mean + spread.deviation * NearlyNormal(Mix(start + kStep * i));
  }
  if (WeightShape(config_, name.role).size() > 1) return;
  for (float& value : values) value = FromBF16(ToBF16(value));
}

}  // namespace headstart
