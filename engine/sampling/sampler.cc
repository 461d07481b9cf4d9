#include "engine/sampling/sampler.h"

#include <algorithm>

#include "engine/sampling/distribution.h"
#include "engine/sampling/random.h"

namespace headstart {
namespace {

bool PenalisesAnswer(const SamplingParams& params) {
  return params.repetition_penalty != 1 || params.frequency_penalty != 0 || params.presence_penalty != 0;
}

}  // namespace

Sampler::Sampler(const SamplingParams& params, std::span<const TokenId> prompt) : params_(params) {
  if (params_.repetition_penalty == 1) return;
  for (TokenId token : prompt) counts_[token].in_prompt = true;
}

SampledToken Sampler::Sample(std::span<const float> logits, int64_t position) {
  logits_.resize(logits.size());
  std::transform(logits.begin(), logits.end(), logits_.begin(), FiniteLogit);
  const double log_sum_exp = params_.logprobs ? LogSumExp(logits_) : 0;
  SampledToken sampled;
  if (params_.logprobs) sampled.top = LikeliestTokens(logits_, params_.top_logprobs, log_sum_exp);

  ApplyPenalties();
  sampled.token = Pick(position);
  const float logit = FiniteLogit(logits[static_cast<size_t>(ToIndex(sampled.token))]);
  if (params_.logprobs) sampled.logprob = FiniteLogit(static_cast<float>(logit - log_sum_exp));
  if (PenalisesAnswer(params_)) ++counts_[sampled.token].in_answer;
  return sampled;
}

void Sampler::ApplyPenalties() {
  for (const auto& [token, counts] : counts_) {
    const auto index = static_cast<size_t>(ToIndex(token));
    if (index >= logits_.size()) continue;
    float& logit = logits_[index];
    logit = logit > 0 ? logit / params_.repetition_penalty : logit * params_.repetition_penalty;
    if (counts.in_answer > 0) {
      logit -= params_.frequency_penalty * static_cast<float>(counts.in_answer);
      logit -= params_.presence_penalty;
    }
    logit = FiniteLogit(logit);
  }
}

TokenId Sampler::Pick(int64_t position) {
  if (params_.temperature == 0) return LikeliestToken(logits_);
  const CutLimits limits = {
      .temperature = params_.temperature, .top_k = params_.top_k, .top_p = params_.top_p, .min_p = params_.min_p};
  const Cut cut = FindCut(logits_, limits, candidates_);
  return Draw(logits_, cut, params_.temperature, UniformAt(params_.seed, static_cast<uint64_t>(position)), masses_);
}

}  // namespace headstart
