// Sampler: picks the next token from a row of logits. Its randomness is a function of (seed, position) alone, so that an answer
// does not depend on how its request was scheduled, preempted or resumed.
//
// Thread-safety: none; one per sequence.
// Errors: Validate refuses parameters out of range with INVALID_ARGUMENT naming the field and its limits.

#ifndef HEADSTART_ENGINE_SAMPLING_SAMPLER_H_
#define HEADSTART_ENGINE_SAMPLING_SAMPLER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "prefix_store/types.h"

namespace headstart {

struct SamplingParams {
  float temperature = 1.0f;         // 0 is greedy: the largest logit, ties to the lowest id
  int top_k = 0;                    // 0: off
  float top_p = 1.0f;               // 1: off
  float min_p = 0.0f;               // 0: off
  float repetition_penalty = 1.0f;  // 1: off; over prompt and answer
  float frequency_penalty = 0.0f;   // over the answer
  float presence_penalty = 0.0f;    // over the answer
  uint64_t seed = 0;
  int top_logprobs = 0;             // how many alternatives to report, at most 20
};

absl::Status ValidateSamplingParams(const SamplingParams& params);

struct TokenLogprob {
  TokenId token{};
  float logprob = 0;  // natural logarithm, under the model's unmodified distribution
};

struct SampledToken {
  TokenId token{};
  float logprob = 0;
  std::vector<TokenLogprob> top;  // top_logprobs of them, most likely first
};

class Sampler {
 public:
  // `prompt` is read for the repetition penalty only. REQUIRES: ValidateSamplingParams(params).ok().
  Sampler(const SamplingParams& params, std::span<const TokenId> prompt);

  // Picks the token for `position` (the index in the sequence that it will have) and counts it for the penalties.
  SampledToken Sample(std::span<const float> logits, int64_t position);

 private:
  struct Counts {
    bool in_prompt = false;
    int in_answer = 0;
  };
  SamplingParams params_;
  absl::flat_hash_map<TokenId, Counts> counts_;
  std::vector<TokenLogprob> candidates_;  // kept between calls for its memory
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_SAMPLING_SAMPLER_H_
