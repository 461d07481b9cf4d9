#include "gateway/services/generation_request.h"

#include <string>

#include "gateway/errors/error_details.h"
#include "gateway/services/cache_control.h"

namespace headstart {
namespace {

SamplingParams ToSamplingParams(const v1::Sampling& sampling, uint64_t drawn_seed) {
  SamplingParams params;
  if (sampling.has_temperature()) params.temperature = sampling.temperature();
  params.top_k = sampling.top_k();
  if (sampling.has_top_p()) params.top_p = sampling.top_p();
  params.min_p = sampling.min_p();
  if (sampling.has_repetition_penalty()) params.repetition_penalty = sampling.repetition_penalty();
  params.frequency_penalty = sampling.frequency_penalty();
  params.presence_penalty = sampling.presence_penalty();
  params.seed = sampling.has_seed() ? sampling.seed() : drawn_seed;
  return params;
}

// The engine's message begins with the parameter's name.
std::string SamplingField(const absl::Status& status) {
  const std::string message(status.message());
  return "sampling." + message.substr(0, message.find(' '));
}

}  // namespace

absl::StatusOr<GenerationRequest> ToGenerationRequest(const v1::GenerateRequest& request, uint64_t drawn_seed) {
  GenerationRequest result;
  result.sampling = ToSamplingParams(request.sampling(), drawn_seed);
  result.sampling.top_logprobs = request.top_logprobs();
  if (auto status = ValidateSamplingParams(result.sampling); !status.ok()) {
    return WithReason(WithField(status, SamplingField(status)), "INVALID_FIELD");
  }
  result.max_tokens = request.max_tokens();
  result.stop.assign(request.stop().begin(), request.stop().end());
  for (const int32_t id : request.stop_token_ids()) result.stop_tokens.push_back(TokenId{id});
  result.ignore_eos = request.ignore_eos();
  ApplyCacheControl(request.cache(), result);
  return result;
}

}  // namespace headstart
