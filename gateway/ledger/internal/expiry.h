// Expiry: one batch that removes what is too old: some of the oldest entries with their ids, then sums.
//
// Thread-safety: the writer's thread. Ownership: the database outlives it.

#ifndef HEADSTART_GATEWAY_LEDGER_INTERNAL_EXPIRY_H_
#define HEADSTART_GATEWAY_LEDGER_INTERNAL_EXPIRY_H_

#include <string>

#include "absl/status/status.h"
#include "gateway/ledger/internal/ledger_database.h"
#include "rocksdb/write_batch.h"

namespace headstart::ledger_internal {

class Expiry {
 public:
  // Of up to `limit` entries before the key `records_end`, and of sums before `hours_end`.
  Expiry(LedgerDatabase& database, std::string records_end, std::string hours_end, int limit)
      : database_(database), records_end_(std::move(records_end)), hours_end_(std::move(hours_end)), limit_(limit) {}

  absl::Status Stage();

  rocksdb::WriteBatch& batch() { return batch_; }
  bool empty() const { return batch_.Count() == 0; }
  bool has_more() const { return has_more_; }

 private:
  absl::Status StageRecords();
  absl::Status StageHours();

  LedgerDatabase& database_;
  const std::string records_end_;
  const std::string hours_end_;
  const int limit_;
  bool has_more_ = false;
  rocksdb::WriteBatch batch_;
};

}  // namespace headstart::ledger_internal

#endif  // HEADSTART_GATEWAY_LEDGER_INTERNAL_EXPIRY_H_
