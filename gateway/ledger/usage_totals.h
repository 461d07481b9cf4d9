// Sums of entries.
//
// Thread-safety: free functions over values.
// Sums are exact up to 63 bits and stay at the largest number from there on: nine billion units of a currency.

#ifndef HEADSTART_GATEWAY_LEDGER_USAGE_TOTALS_H_
#define HEADSTART_GATEWAY_LEDGER_USAGE_TOTALS_H_

#include "headstart/v1/usage_service.pb.h"

namespace headstart {

// What one entry adds. Entries of kept prefixes are no requests.
v1::UsageTotals TotalsOf(const v1::UsageEntry& entry);

// Associative and commutative. Every figure of the sum is set; the currency is the part's.
void Add(const v1::UsageTotals& part, v1::UsageTotals& sum);

// What `after` has more than `before`.
v1::UsageTotals Difference(const v1::UsageTotals& after, const v1::UsageTotals& before);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_LEDGER_USAGE_TOTALS_H_
