// DiskStore: what is behind DiskTier (disk_tier.h has the contract): the claimed directory, the database in it, and
// what is done when either fails.
//
// Thread-safety: all methods from any thread. Reads run side by side; whatever changes files holds the mutex, one at a
// time.

#ifndef HEADSTART_PREFIX_STORE_TIER_INTERNAL_DISK_STORE_H_
#define HEADSTART_PREFIX_STORE_TIER_INTERNAL_DISK_STORE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "prefix_store/mutex.h"
#include "prefix_store/tier/disk_tier.h"
#include "prefix_store/tier/internal/block_database.h"
#include "prefix_store/tier/internal/cache_directory.h"
#include "prefix_store/tier/internal/disk_space.h"
#include "prefix_store/tier/internal/named_records.h"
#include "prefix_store/tier/internal/shared_database.h"
#include "prefix_store/tier/internal/space_plan.h"
#include "rocksdb/write_batch.h"

namespace headstart::internal {

class DiskStore {
 public:
  DiskStore(const DiskTierOptions& options, const SpacePlan& plan, std::unique_ptr<CacheDirectory> directory,
            std::unique_ptr<NamedRecords> names);
  ~DiskStore();

  // Opens the database, empty when there is none or it is damaged. One that cannot be opened now, in a directory that
  // is not new, is no error: it is read as far as possible, and opened for writing by a probe. To be called once,
  // first.
  absl::Status Start();

  const SpacePlan& plan() const { return plan_; }
  const CacheDirectory& directory() const { return *directory_; }
  NamedRecords& names() { return *names_; }

  std::vector<absl::Status> Read(std::span<const BlockPlace> places,
                                 absl::FunctionRef<void(size_t index, const BlockBytes&)> sink);
  absl::Status Recover(absl::FunctionRef<bool(const PrefixKey&, const BlockMeta&)> visit);
  absl::StatusOr<VerifyReport> Verify(absl::FunctionRef<void(std::string_view raw_key, const BadBlock&)> bad);
  void VisitCounters(absl::FunctionRef<void(std::string_view name, int64_t value)> visit) const;

  std::unique_ptr<TierWriter> NewWriter();
  absl::Status Remove(std::span<const BlockPlace> places);
  absl::Status Clear();
  absl::Status Sync();
  absl::Status Probe();
  void WaitForCleaning();

 private:
  class Writer;

  struct Counters {
    std::atomic<int64_t> read_blocks = 0;
    std::atomic<int64_t> missing_blocks = 0;
    std::atomic<int64_t> damaged_blocks = 0;  // found when they were read
    std::atomic<int64_t> failed_reads = 0;
    std::atomic<int64_t> written_blocks = 0;
    std::atomic<int64_t> failed_writes = 0;
    std::atomic<int64_t> removed_blocks = 0;
    std::atomic<int64_t> bad_records = 0;      // removed by Recover or after damage
    std::atomic<int64_t> foreign_records = 0;  // of other fingerprints, removed
    std::atomic<int64_t> started_empty = 0;    // times that damage left nothing to keep
    std::atomic<int64_t> cleared = 0;          // times that Clear was asked for, and done
    std::atomic<int64_t> reopened = 0;
  };

  void Say(DiskEventSeverity severity, std::string_view text) const {
    if (options_.on_event) options_.on_event(severity, text);
  }

  DatabaseSettings Settings() const;
  absl::StatusOr<std::unique_ptr<BlockDatabase>> OpenDatabase();
  absl::StatusOr<std::unique_ptr<BlockDatabase>> StartEmpty(std::string_view why);
  SharedDatabase::Replacement OpenAsFarAsPossible();
  bool FindForeign() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Clean() ABSL_LOCKS_EXCLUDED(mutex_);
  void CleanNow() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::Status ReadOne(BlockDatabase& database, const PrefixKey& key, absl::FunctionRef<void(const BlockBytes&)> sink);
  void CountRead(const absl::Status& status);
  absl::Status Scan(absl::FunctionRef<bool(const PrefixKey&, const BlockMeta&)> visit, std::vector<std::string>& bad);

  // The one way to what changes files.
  absl::Status Change(absl::FunctionRef<absl::Status(BlockDatabase&)> change) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status MakeRoom(int64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status WriteBatch(rocksdb::WriteBatch& batch, std::string_view what) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Write(rocksdb::WriteBatch& batch, int64_t blocks);
  absl::Status RemoveRecords(std::span<const std::string> raw_keys) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status RemoveBadRecords(std::span<const std::string> raw_keys) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsOpenAndWell();
  absl::Status Revive() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status RemoveSuspects() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const DiskTierOptions options_;
  const SpacePlan plan_;
  const std::unique_ptr<CacheDirectory> directory_;
  const std::unique_ptr<NamedRecords> names_;
  SharedDatabase database_;
  Counters counters_;

  Mutex mutex_;
  DiskSpace space_;                               // changed under the mutex; its counters are for everyone
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);  // why nothing is changed until a probe
  // A compaction met damage: blocks are to be read through before the next one.
  bool suspect_ ABSL_GUARDED_BY(mutex_) = false;
  // Records of other fingerprints were looked for, which takes a database that can be written to.
  bool looked_for_foreign_ ABSL_GUARDED_BY(mutex_) = false;
  // Of the batch that could not be written last; none yet: 0.
  int64_t refused_bytes_ ABSL_GUARDED_BY(mutex_) = 0;

  std::atomic<bool> stopping_ = false;
  std::thread cleaner_;
};

}  // namespace headstart::internal

#endif  // HEADSTART_PREFIX_STORE_TIER_INTERNAL_DISK_STORE_H_
