// NamedRecords: a few small records under names, each write synced: what an operator registered and must not be lost
// with the cache. They have a RocksDB of their own: a synced write there does not wait for the cache's unsynced
// megabytes, and clearing a damaged cache leaves them alone.
//
// Thread-safety: all methods from any thread.
// Ownership: directory and environment outlive it.

#ifndef HEADSTART_PREFIX_STORE_TIER_INTERNAL_NAMED_RECORDS_H_
#define HEADSTART_PREFIX_STORE_TIER_INTERNAL_NAMED_RECORDS_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "prefix_store/mutex.h"
#include "prefix_store/tier/internal/cache_directory.h"
#include "rocksdb/db.h"

namespace headstart::internal {

class NamedRecords {
 public:
  // What is damaged is repaired, and what cannot be is dropped with a line to `on_damage`. Of a directory that is not
  // new, what cannot be opened for lack of space is opened for reading; what cannot be opened at all is closed. Writes,
  // or all, then fail until Probe returns OK.
  static absl::StatusOr<std::unique_ptr<NamedRecords>> Open(CacheDirectory& directory, rocksdb::Env& env,
                                                            std::function<void(std::string_view)> on_damage);

  // After a write that failed, writes fail until Probe returns OK.
  absl::Status Put(std::string_view id, std::string_view bytes);
  absl::Status Remove(std::string_view id);
  // In the order of their names.
  absl::Status ForEach(absl::FunctionRef<void(std::string_view id, std::string_view bytes)> visit) const;
  // After a failure: tries whether it works again.
  absl::Status Probe();

 private:
  using OnDamage = std::function<void(std::string_view)>;

  NamedRecords(const CacheDirectory& directory, rocksdb::Env& env, OnDamage on_damage)
      : directory_(directory), env_(env), on_damage_(std::move(on_damage)) {}

  absl::Status OpenDatabase() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OpenForReading() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Change(std::string_view what, absl::FunctionRef<rocksdb::Status(rocksdb::DB&)> change);

  const CacheDirectory& directory_;
  rocksdb::Env& env_;
  const OnDamage on_damage_;

  mutable Mutex mutex_;
  std::unique_ptr<rocksdb::DB> db_ ABSL_GUARDED_BY(mutex_);
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);  // of the last write or opening
};

}  // namespace headstart::internal

#endif  // HEADSTART_PREFIX_STORE_TIER_INTERNAL_NAMED_RECORDS_H_
