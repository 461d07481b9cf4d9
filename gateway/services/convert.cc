#include "gateway/services/convert.h"

#include <string>
#include <utility>

#include "fmt/format.h"
#include "gateway/services/proto_time.h"

namespace headstart {
namespace {

v1::TokenLogprob ToLogprob(TokenId token, float logprob, const Tokenizer& tokenizer) {
  v1::TokenLogprob result;
  result.set_token_id(ToIndex(token));
  result.set_token(tokenizer.TokenBytes(token, /*with_special=*/true));
  result.set_logprob(logprob);
  return result;
}

v1::TokenLogprobs ToLogprobs(const SampledToken& sampled, const Tokenizer& tokenizer) {
  v1::TokenLogprobs result;
  *result.mutable_chosen() = ToLogprob(sampled.token, sampled.logprob, tokenizer);
  for (const auto& top : sampled.top) *result.add_top() = ToLogprob(top.token, top.logprob, tokenizer);
  return result;
}

}  // namespace

v1::TierTokens ToTiers(const TokensByTier& tokens) {
  v1::TierTokens tiers;
  tiers.set_device(tokens.device);
  tiers.set_host(tokens.host);
  tiers.set_disk(tokens.disk);
  tiers.set_remote(0);
  return tiers;
}

v1::CacheSplit ToCacheSplit(const GenerationUsage& usage) {
  v1::CacheSplit split;
  split.set_prompt_tokens(usage.prompt_tokens);
  split.set_cached_tokens(usage.cached_tokens());
  split.set_computed_tokens(usage.prompt_tokens - usage.cached_tokens());
  *split.mutable_cached_by_tier() = CachedByTier(usage);
  split.set_miss_reason(ToMissReason(usage.miss_reason));
  return split;
}

v1::CacheSplit ToCacheSplit(const Match& match, int64_t prompt_tokens) {
  GenerationUsage usage;
  usage.prompt_tokens = prompt_tokens;
  usage.cached_device_tokens = match.matched_tokens - match.by_tier.host - match.by_tier.disk;
  usage.cached_host_tokens = match.by_tier.host;
  usage.cached_disk_tokens = match.by_tier.disk;
  usage.miss_reason = match.miss_reason;
  return ToCacheSplit(usage);
}

v1::Timings ToTimings(const GenerationTimings& timings) {
  v1::Timings result;
  Set(timings.queue, result.mutable_queue());
  Set(timings.prefill, result.mutable_prefill());
  Set(timings.ttft, result.mutable_time_to_first_token());
  Set(timings.decode, result.mutable_decode());
  Set(timings.total, result.mutable_total());
  Set(timings.load, result.mutable_load());
  return result;
}

v1::GenerateDelta ToDelta(GenerationDelta delta, bool logprobs, const Tokenizer& tokenizer) {
  v1::GenerateDelta result;
  result.set_text(std::move(delta.text));
  for (const auto& sampled : delta.tokens) {
    result.add_token_ids(ToIndex(sampled.token));
    if (logprobs) *result.add_logprobs() = ToLogprobs(sampled, tokenizer);
  }
  return result;
}

v1::Model ToModel(const Engine& engine, const std::string& name) {
  const ModelConfig& config = engine.config();
  const KvShape& kv = engine.kv_shape();
  const Fingerprint fingerprint = engine.fingerprint();
  v1::Model model;
  model.set_name(name);
  model.set_architecture(std::string(ArchitectureName(config.architecture)));
  model.set_max_context_tokens(engine.max_context_tokens());
  model.set_vocab_size(config.vocab_size);
  model.set_block_tokens(kv.block_tokens);
  model.set_kv_bytes_per_token(kv.bytes_per_token());
  model.set_cache_capacity_tokens(engine.stats().store.pool_blocks * kv.block_tokens);
  model.set_fingerprint(fmt::format("{:016x}{:016x}", fingerprint.high, fingerprint.low));
  model.set_has_chat_template(engine.has_own_chat_template());
  return model;
}

}  // namespace headstart
