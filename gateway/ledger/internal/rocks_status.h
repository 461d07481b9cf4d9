// RocksDB's statuses as ours.
//
// Thread-safety: free functions over values.

#ifndef HEADSTART_GATEWAY_LEDGER_INTERNAL_ROCKS_STATUS_H_
#define HEADSTART_GATEWAY_LEDGER_INTERNAL_ROCKS_STATUS_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "rocksdb/status.h"

namespace headstart::ledger_internal {

// What RocksDB says, said once: a full disk it names twice, around the file that happened to be written.
std::string ReasonOf(const rocksdb::Status& status);

// OK, UNAVAILABLE, DATA_LOSS or NOT_FOUND; `what` begins the message.
absl::Status FromRocks(const rocksdb::Status& status, std::string_view what);

// The same where nothing can be missing or damaged yet: OK or UNAVAILABLE.
absl::Status FromRocksIo(const rocksdb::Status& status, std::string_view what);

}  // namespace headstart::ledger_internal

#endif  // HEADSTART_GATEWAY_LEDGER_INTERNAL_ROCKS_STATUS_H_
