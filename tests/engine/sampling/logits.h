// Rows of logits for the sampler's tests, a function of their seed.

#ifndef HEADSTART_TESTS_ENGINE_SAMPLING_LOGITS_H_
#define HEADSTART_TESTS_ENGINE_SAMPLING_LOGITS_H_

#include <cmath>
#include <random>
#include <vector>

namespace headstart::testing {

// About normal, quantised to quarters: many ties, as bf16 models have them.
inline std::vector<float> LogitsWithTies(int size, uint32_t seed, float spread = 3) {
  std::mt19937 random(seed);
  std::vector<float> logits(static_cast<size_t>(size));
  for (float& logit : logits) {
    float sum = 0;
    for (int i = 0; i < 4; ++i) sum += static_cast<float>(random() % 1024) / 1024 - 0.5f;
    logit = std::round(sum * spread * 4) / 4;
  }
  return logits;
}

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_ENGINE_SAMPLING_LOGITS_H_
