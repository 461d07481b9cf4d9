// Sampler: picks the next token from a row of logits. Its randomness is a function of (seed, position) alone, so that
// an answer does not depend on how its request was scheduled, preempted or resumed.
//
// Order of operations (that of vLLM): log-probabilities of the unmodified logits · repetition, frequency and presence
// penalty · greedy pick if temperature is 0 · temperature · min-p · top-k · top-p over what is left · one draw. Where
// logits tie, the lower id counts as the likelier, so top-k keeps exactly k. Logits that are no numbers: NaN counts as
// the lowest finite value, ±infinity as the largest and lowest; nothing crashes, every reported log-probability is
// finite, and a token at the lowest value is picked only if all are.
//
// Thread-safety: none; one per sequence.
// Errors: Validate refuses parameters out of range with INVALID_ARGUMENT naming the field and its limits.
//
//   Sampler sampler({.temperature = 0.7f, .top_p = 0.9f, .seed = 1}, prompt);
//   SampledToken next = sampler.Sample(runner.Logits(0), prompt.size());

#ifndef HEADSTART_ENGINE_SAMPLING_SAMPLER_H_
#define HEADSTART_ENGINE_SAMPLING_SAMPLER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "engine/sampling/cut.h"
#include "prefix_store/types.h"

namespace headstart {

struct SamplingParams {
  float temperature = 1.0f;         // 0 is greedy: the largest logit, ties to the lowest id; at most 100
  int top_k = 0;                    // 0: off
  float top_p = 1.0f;               // 1: off; the fewest likeliest tokens whose mass reaches it
  float min_p = 0.0f;               // 0: off; drops what is less likely than this share of the likeliest
  float repetition_penalty = 1.0f;  // 1: off; over prompt and answer: divides positive logits, multiplies others
  float frequency_penalty = 0.0f;   // over the answer: subtracted once for each occurrence; -2 to 2
  float presence_penalty = 0.0f;    // over the answer: subtracted once; -2 to 2
  uint64_t seed = 0;
  int top_logprobs = 0;  // how many alternatives to report, at most 20
  bool logprobs = true;  // false: none are reported, which saves a pass over the vocabulary
};

absl::Status ValidateSamplingParams(const SamplingParams& params);

struct TokenLogprob {
  TokenId token{};
  float logprob = 0;  // natural logarithm, under the model's unmodified distribution
};

struct SampledToken {
  TokenId token{};
  float logprob = 0;              // 0 without SamplingParams::logprobs
  std::vector<TokenLogprob> top;  // top_logprobs of them, most likely first
};

class Sampler {
 public:
  // `prompt` is read for the repetition penalty only. REQUIRES: ValidateSamplingParams(params).ok().
  Sampler(const SamplingParams& params, std::span<const TokenId> prompt);

  // Picks the token for `position` (the index in the sequence that it will have) and counts it for the penalties.
  // REQUIRES: logits is not empty.
  SampledToken Sample(std::span<const float> logits, int64_t position);

 private:
  struct Counts {
    bool in_prompt = false;
    int in_answer = 0;
  };

  void ApplyPenalties();
  TokenId Pick(int64_t position);

  SamplingParams params_;
  absl::flat_hash_map<TokenId, Counts> counts_;  // filled only where a penalty reads it

  // Kept between calls for their memory.
  std::vector<float> logits_;  // finite, then with penalties
  std::vector<CutCandidate> candidates_;
  std::vector<float> masses_;
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_SAMPLING_SAMPLER_H_
