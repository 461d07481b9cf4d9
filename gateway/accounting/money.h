// Money in text: amounts are whole nano-units, billionths of the currency's unit, and decimals are read and written
// exactly, never through floating point.
//
// Thread-safety: free functions over values.
//
//   ParseNanos("0.25")          // 250'000'000
//   FormatNanos(1'250'000'000)  // "1.25"

#ifndef HEADSTART_GATEWAY_ACCOUNTING_MONEY_H_
#define HEADSTART_GATEWAY_ACCOUNTING_MONEY_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace headstart {

// A decimal number of at least 0: digits, and after a point one to nine more. INVALID_ARGUMENT "<text> is ..." for a
// sign, an exponent, a tenth decimal, and what 63 bits cannot hold.
absl::StatusOr<int64_t> ParseNanos(std::string_view text);

// With as many decimals as it takes, and at least two: "0.00", "-1.50", "0.000000001".
std::string FormatNanos(int64_t nanos);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_ACCOUNTING_MONEY_H_
