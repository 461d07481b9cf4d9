// What usage costs: tokens times prices, in whole nano-units, rounded once.
//
//   cost          = computed prompt tokens × input + cached tokens of each tier × that tier's price
//                 + cache writes × cache_write + completion × output + token-hours kept × storage
//   without cache = all prompt tokens × input + completion × output + token-hours kept × storage
//   saved         = without cache − cost, which is below 0 when writing cost more than reading saved
//
// The sums are exact, in 128 bits; each of the two costs is rounded once, to the nearest nano-unit and halves up.
// Tokens recomputed after preemption cost nothing.
//
// Thread-safety: free functions over values.

#ifndef HEADSTART_GATEWAY_ACCOUNTING_CHARGE_H_
#define HEADSTART_GATEWAY_ACCOUNTING_CHARGE_H_

#include <cstdint>

#include "headstart/v1/usage.pb.h"
#include "headstart/v1/usage_service.pb.h"

namespace headstart {

// The largest price: of a million tokens, in nano-units, so one unit of the currency a token. With as many tokens of
// prompt and of answer as an int32 can number, all of them written to the cache, 4 × 2^31 × 10^9 < 2^63.
inline constexpr int64_t kMaxPriceNanos = 1'000'000'000'000'000;

// Of a server without prices: zeros, and no currency.
v1::Charge NoCharge();

// The three amounts; currency and version are the caller's to set. A figure below 0 counts as 0.
// REQUIRES: no price is below 0 or over kMaxPriceNanos.
v1::Charge ChargeOf(const v1::Usage& usage, int64_t storage_token_seconds, const v1::TokenPrices& prices);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_ACCOUNTING_CHARGE_H_
