// Whether budgets can be met at all: one in another currency than the price book's would never stop anybody.
//
// Thread-safety: a free function.

#ifndef HEADSTART_GATEWAY_SERVING_CHECK_BUDGETS_H_
#define HEADSTART_GATEWAY_SERVING_CHECK_BUDGETS_H_

#include "absl/status/status.h"
#include "gateway/accounting/price_book.h"
#include "gateway/auth/key_table.h"

namespace headstart {

// FAILED_PRECONDITION naming the first tenant, by name, whose budget nothing is ever charged against. `prices` is null
// without a price book.
absl::Status CheckBudgets(const KeyTable& keys, const PriceBook* prices);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVING_CHECK_BUDGETS_H_
