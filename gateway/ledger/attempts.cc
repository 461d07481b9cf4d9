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

}  // namespace

void JoinAttempt(const v1::UsageEntry& attempt, v1::UsageEntry& entry) {
  const int64_t tokens = entry.usage().completion_tokens();
  const int64_t kept = entry.storage_token_seconds();
  entry.set_attempts(entry.attempts() + attempt.attempts());
  entry.set_finish_reason(attempt.finish_reason());
  *entry.mutable_update_time() = attempt.update_time();
  entry.mutable_usage()->set_completion_tokens(std::max(tokens, attempt.usage().completion_tokens()));
  entry.set_storage_token_seconds(std::max(kept, attempt.storage_token_seconds()));
  const bool has_grown = entry.usage().completion_tokens() > tokens || entry.storage_token_seconds() > kept;
  if (has_grown && entry.has_prices()) ChargeAgain(entry);
}

}  // namespace headstart
