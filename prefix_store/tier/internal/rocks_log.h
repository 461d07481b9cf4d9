// What RocksDB says of failures, as lines for a callback, and its own repair of them held back: when to try again is
// the caller's to decide (Tier::Probe), so that tests can decide it too.
//
// Thread-safety: the callback may be called from RocksDB's threads.

#ifndef HEADSTART_PREFIX_STORE_TIER_INTERNAL_ROCKS_LOG_H_
#define HEADSTART_PREFIX_STORE_TIER_INTERNAL_ROCKS_LOG_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string_view>

#include "rocksdb/env.h"
#include "rocksdb/listener.h"

namespace headstart::internal {

// Passes errors on and drops the rest; without a callback it drops all. No log file is written.
std::shared_ptr<rocksdb::Logger> NewErrorLogger(std::function<void(std::string_view)> on_error);

// Sets `failed` when RocksDB stops for an error of its background work.
std::shared_ptr<rocksdb::EventListener> NewManualRecovery(std::shared_ptr<std::atomic<bool>> failed);

}  // namespace headstart::internal

#endif  // HEADSTART_PREFIX_STORE_TIER_INTERNAL_ROCKS_LOG_H_
