// Masses of logits: exponentials relative to the largest, summed. The hot loop of sampling, over a whole vocabulary for
// every token.
//
// Thread-safety: pure functions.
// Accuracy: with x = (logit − largest) / temperature, a weight is e^x within a relative (|x| + 4) · 2^-23, and 0 below
// e^-87. Sums are f32 over short stretches and double beyond. REQUIRES, everywhere: logits are finite and none exceeds
// `largest`; temperature is above 0.

#ifndef HEADSTART_ENGINE_SAMPLING_MASS_H_
#define HEADSTART_ENGINE_SAMPLING_MASS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace headstart {

// The last token that is kept, in order of logits, ties by the lower id. By default all are.
struct Cut {
  float logit = -std::numeric_limits<float>::infinity();
  int32_t id = std::numeric_limits<int32_t>::max();

  bool Keeps(float other_logit, int32_t other_id) const {
    return other_logit > logit || (other_logit == logit && other_id <= id);
  }
};

// Probability of a logit up to a common factor: 1 for the largest.
float WeightOf(float logit, float largest, float temperature);

// Logits whose masses are summed on their own, for a search in two levels.
inline constexpr size_t kStretch = 256;

// Σ of the weights that `cut` keeps, over at most kStretch logits; `first_id` is the id of logits[0].
float StretchMass(std::span<const float> logits, int32_t first_id, const Cut& cut, float largest, float temperature);

// The same over any number, from id 0.
double MassOf(std::span<const float> logits, const Cut& cut, float largest, float temperature);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_SAMPLING_MASS_H_
