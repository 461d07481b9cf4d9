// RocksDB's results as the tiers' (tier.h lists them).
//
// Thread-safety: pure functions.

#ifndef HEADSTART_PREFIX_STORE_TIER_INTERNAL_ROCKS_STATUS_H_
#define HEADSTART_PREFIX_STORE_TIER_INTERNAL_ROCKS_STATUS_H_

#include <string_view>

#include "absl/status/status.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace headstart::internal {

// NOT_FOUND: not there, the file neither. DATA_LOSS: damaged. RESOURCE_EXHAUSTED: no space. UNAVAILABLE: all the rest.
// `what` begins the message: "cannot write to <directory>".
absl::Status FromRocks(const rocksdb::Status& status, std::string_view what);

// Whether the files are to blame, which will not be better at the next try, rather than the device or its space.
bool IsDamage(const rocksdb::Status& status);

inline rocksdb::Slice ToSlice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }
inline std::string_view ToView(const rocksdb::Slice& bytes) { return {bytes.data(), bytes.size()}; }

}  // namespace headstart::internal

#endif  // HEADSTART_PREFIX_STORE_TIER_INTERNAL_ROCKS_STATUS_H_
