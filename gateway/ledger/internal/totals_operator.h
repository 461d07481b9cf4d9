// How RocksDB adds to a rollup without reading it: a merge operator that sums v1::UsageTotals.
//
// Thread-safety: as rocksdb::MergeOperator: from any thread.

#ifndef HEADSTART_GATEWAY_LEDGER_INTERNAL_TOTALS_OPERATOR_H_
#define HEADSTART_GATEWAY_LEDGER_INTERNAL_TOTALS_OPERATOR_H_

#include <memory>

#include "rocksdb/merge_operator.h"

namespace headstart::ledger_internal {

std::shared_ptr<rocksdb::MergeOperator> TotalsOperator();

}  // namespace headstart::ledger_internal

#endif  // HEADSTART_GATEWAY_LEDGER_INTERNAL_TOTALS_OPERATOR_H_
