#include "gateway/ledger/attempts.h"

#include <algorithm>
#include <cstdint>

#include "gateway/accounting/charge.h"

namespace headstart {
namespace {

// Currency and version stay.
void ChargeAgain(v1::UsageEntry& entry) {
  const v1::Charge amounts = ChargeOf(entry.usage(), entry.storage_token_seconds(), entry.prices());
  v1::Charge& charge = *entry.mutable_charge();
  charge.set_cost_nanos(amounts.cost_nanos());
  charge.set_cost_without_cache_nanos(amounts.cost_without_cache_nanos());
  charge.set_saved_nanos(amounts.saved_nanos());
}

// Of a prompt that no earlier attempt got through, the rest is billed as this one found it.
void JoinPrompt(const v1::Usage& attempt, v1::Usage& usage) {
  const int64_t known = usage.prompt_tokens();
  if (attempt.prompt_tokens() <= known) return;
  // Of `count` tokens, those beyond the known ones. A prompt has the device's tokens first and those of slower tiers
  // after them; what follows was computed.
  int64_t end = 0;
  const auto rest = [&](int64_t count) {
    end += count;
    return std::clamp<int64_t>(end - known, 0, count);
  };
  const v1::TierTokens& from = attempt.cached_by_tier();
  v1::TierTokens& cached = *usage.mutable_cached_by_tier();
  cached.set_device(cached.device() + rest(from.device()));
  cached.set_host(cached.host() + rest(from.host()));
  cached.set_disk(cached.disk() + rest(from.disk()));
  cached.set_remote(cached.remote() + rest(from.remote()));
  usage.set_cached_tokens(cached.device() + cached.host() + cached.disk() + cached.remote());
  usage.set_prompt_tokens(attempt.prompt_tokens());
  usage.set_computed_prompt_tokens(usage.prompt_tokens() - usage.cached_tokens());
  usage.set_cache_write_tokens(std::max(usage.cache_write_tokens(), attempt.cache_write_tokens()));
}

}  // namespace

void JoinAttempt(const v1::UsageEntry& attempt, v1::UsageEntry& entry) {
  const int64_t prompt = entry.usage().prompt_tokens();
  const int64_t tokens = entry.usage().completion_tokens();
  const int64_t kept = entry.storage_token_seconds();
  entry.set_attempts(entry.attempts() + attempt.attempts());
  entry.set_finish_reason(attempt.finish_reason());
  *entry.mutable_update_time() = attempt.update_time();
  JoinPrompt(attempt.usage(), *entry.mutable_usage());
  entry.mutable_usage()->set_completion_tokens(std::max(tokens, attempt.usage().completion_tokens()));
  entry.set_storage_token_seconds(std::max(kept, attempt.storage_token_seconds()));
  const bool has_grown = entry.usage().prompt_tokens() > prompt || entry.usage().completion_tokens() > tokens ||
                         entry.storage_token_seconds() > kept;
  if (has_grown && entry.has_prices()) ChargeAgain(entry);
}

}  // namespace headstart
