// A row of logits as a probability distribution: its normaliser, its likeliest tokens, and a draw from it.
//
// Thread-safety: pure functions.
// REQUIRES, everywhere: logits are finite and not empty.

#ifndef HEADSTART_ENGINE_SAMPLING_DISTRIBUTION_H_
#define HEADSTART_ENGINE_SAMPLING_DISTRIBUTION_H_

#include <span>
#include <vector>

#include "engine/sampling/mass.h"
#include "engine/sampling/sampler.h"
#include "prefix_store/types.h"

namespace headstart {

// NaN becomes the lowest finite value, infinities the lowest and the largest.
float FiniteLogit(float logit);

// The largest logit; ties to the lowest id.
TokenId LikeliestToken(std::span<const float> logits);

// ln Σ exp(logit); log-probabilities are logits minus this.
double LogSumExp(std::span<const float> logits);

// The `count` likeliest, most likely first.
std::vector<TokenLogprob> LikeliestTokens(std::span<const float> logits, int count, double log_sum_exp);

// The token at `uniform` of [0, 1) in the cumulated probabilities, by ascending id, of the tokens that `cut` keeps. A
// token without weight is never drawn. `scratch` is kept by the caller for its memory.
TokenId Draw(std::span<const float> logits, const Cut& cut, float temperature, double uniform,
             std::vector<float>& scratch);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_SAMPLING_DISTRIBUTION_H_
