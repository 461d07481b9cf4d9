#include "gateway/services/request_digest.h"

#include <string>

#include "xxhash.h"

namespace headstart {
namespace {

// The fields that decide the answer, in the order of their numbers: protobuf's own order within one version.
std::string AnswerFields(const v1::GenerateRequest& request) {
  v1::GenerateRequest kept;
  kept.set_model(request.model());
  *kept.mutable_sampling() = request.sampling();
  if (request.has_max_tokens()) kept.set_max_tokens(request.max_tokens());
  *kept.mutable_stop() = request.stop();
  *kept.mutable_stop_token_ids() = request.stop_token_ids();
  kept.set_ignore_eos(request.ignore_eos());
  kept.set_logprobs(request.logprobs());
  kept.set_top_logprobs(request.top_logprobs());
  return kept.SerializeAsString();
}

}  // namespace

uint64_t DigestOf(const v1::GenerateRequest& request, std::span<const TokenId> prompt) {
  const uint64_t tokens = XXH3_64bits(prompt.data(), prompt.size_bytes());
  const std::string fields = AnswerFields(request);
  return XXH3_64bits_withSeed(fields.data(), fields.size(), tokens);
}

}  // namespace headstart
