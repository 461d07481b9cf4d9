#include "gateway/accounting/charge.h"

#include <algorithm>
#include <limits>

#include "absl/numeric/int128.h"

namespace headstart {
namespace {

// Prices are for a million tokens, or for a million tokens kept for an hour.
constexpr int64_t kPricedTokens = 1'000'000;
constexpr int64_t kSecondsPerHour = 3600;

// In nano-units times kPricedTokens × kSecondsPerHour, so that token-seconds need no rounding of their own.
using Exact = absl::int128;

Exact Priced(int64_t tokens, int64_t price) { return Exact(std::max<int64_t>(tokens, 0)) * price * kSecondsPerHour; }

Exact PricedStorage(int64_t token_seconds, int64_t price) { return Exact(std::max<int64_t>(token_seconds, 0)) * price; }

// To the nearest, halves up. What does not fit, which no engine's figures reach, becomes the largest amount.
int64_t Round(Exact exact) {
  constexpr Exact kScale = kPricedTokens * kSecondsPerHour;
  const Exact rounded = (exact + kScale / 2) / kScale;
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  return rounded > kLargest ? kLargest : static_cast<int64_t>(rounded);
}

Exact CachedCost(const v1::TierTokens& tokens, const v1::TokenPrices& prices) {
  return Priced(tokens.device(), prices.cached_device_nanos()) + Priced(tokens.host(), prices.cached_host_nanos()) +
         Priced(tokens.disk(), prices.cached_disk_nanos()) + Priced(tokens.remote(), prices.cached_remote_nanos());
}

void SetAmounts(int64_t cost, int64_t without_cache, v1::Charge& charge) {
  charge.set_cost_nanos(cost);
  charge.set_cost_without_cache_nanos(without_cache);
  charge.set_saved_nanos(without_cache - cost);
}

}  // namespace

v1::Charge NoCharge() {
  v1::Charge charge;
  SetAmounts(0, 0, charge);
  return charge;
}

v1::Charge ChargeOf(const v1::Usage& usage, int64_t storage_token_seconds, const v1::TokenPrices& prices) {
  const Exact both = Priced(usage.completion_tokens(), prices.output_nanos()) +
                     PricedStorage(storage_token_seconds, prices.storage_hour_nanos());
  const Exact cost = both + Priced(usage.computed_prompt_tokens(), prices.input_nanos()) +
                     CachedCost(usage.cached_by_tier(), prices) +
                     Priced(usage.cache_write_tokens(), prices.cache_write_nanos());
  v1::Charge charge;
  SetAmounts(Round(cost), Round(both + Priced(usage.prompt_tokens(), prices.input_nanos())), charge);
  return charge;
}

}  // namespace headstart
