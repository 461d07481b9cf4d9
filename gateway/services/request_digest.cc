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

// Begins as no AnswerFields do.
std::string PrefixFields(const v1::CreatePrefixRequest& request) {
  v1::CreatePrefixRequest kept;
  kept.set_id(request.id());
  kept.set_scope(request.scope());
  kept.set_model(request.model());
  return "prefix:" + kept.SerializeAsString();
}

uint64_t Digest(const std::string& fields, std::span<const TokenId> tokens) {
  return XXH3_64bits_withSeed(fields.data(), fields.size(), XXH3_64bits(tokens.data(), tokens.size_bytes()));
}

}  // namespace

uint64_t DigestOf(const v1::GenerateRequest& request, std::span<const TokenId> prompt) {
  return Digest(AnswerFields(request), prompt);
}

uint64_t DigestOf(const v1::CreatePrefixRequest& request, std::span<const TokenId> prefix) {
  return Digest(PrefixFields(request), prefix);
}

}  // namespace headstart
