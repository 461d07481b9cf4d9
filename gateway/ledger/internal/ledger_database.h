// LedgerDatabase: the RocksDB that holds a ledger: entries by time, the ids that find them, sums by the hour. Here are
// its options, and nothing of what the bytes mean but that sums are added up.
//
// Thread-safety: as RocksDB: all methods from any thread; Write from one at a time.
// Ownership: `env` outlives it; the directory is claimed (ledger_directory.h) while it lives.
//
// After a failed write nothing touches it but reads, and it is opened anew: Debian's RocksDB is built with assertions
// that end the process when a log that failed is synced (decision 0010).

#ifndef HEADSTART_GATEWAY_LEDGER_INTERNAL_LEDGER_DATABASE_H_
#define HEADSTART_GATEWAY_LEDGER_INTERNAL_LEDGER_DATABASE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gateway/ledger/internal/file_identity.h"
#include "gateway/ledger/internal/rocks_status.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/write_batch.h"

namespace headstart::ledger_internal {

class LedgerDatabase {
 public:
  // Creates it when it is not there. `identify` watches over its files. Once it is open, `on_error` gets what RocksDB's
  // own log says of failures, a sentence each; why it could not be opened is in the status alone.
  static absl::StatusOr<std::unique_ptr<LedgerDatabase>> Open(rocksdb::Env& env, const std::string& path,
                                                              IdentifyFile identify,
                                                              std::function<void(const std::string&)> on_error);
  ~LedgerDatabase();
  LedgerDatabase(const LedgerDatabase&) = delete;
  LedgerDatabase& operator=(const LedgerDatabase&) = delete;

  rocksdb::DB& db() { return *db_; }
  rocksdb::ColumnFamilyHandle* state() { return families_[kState]; }      // the number of the last group
  rocksdb::ColumnFamilyHandle* records() { return families_[kRecords]; }  // entries by time
  rocksdb::ColumnFamilyHandle* ids() { return families_[kIds]; }          // (tenant, request_id) → time
  rocksdb::ColumnFamilyHandle* hours() { return families_[kHours]; }      // sums

  // NOT_FOUND when it is not there.
  absl::StatusOr<std::string> Get(rocksdb::ColumnFamilyHandle* family, std::string_view key);

  // On the device, in files that the path leads to, when it returns OK. Otherwise it may be there or not: the next Open
  // decides.
  absl::Status Write(rocksdb::WriteBatch& batch);

  // Gives back the space of removed keys before `records_end` and `hours_end`, in the background.
  void Reclaim(std::string_view records_end, std::string_view hours_end);

 private:
  enum Family { kState, kRecords, kIds, kHours };

  LedgerDatabase(std::string path, IdentifyFile identify) : path_(std::move(path)), identify_(std::move(identify)) {}

  // RocksDB is not left to switch memtables by itself: where that fails, closing ends the process (7.8).
  absl::Status BeginFlushWhenFull();
  // Files that were removed take writes and syncs as before, and nobody ever finds what was written.
  absl::Status CheckInPlace() const;
  // RocksDB keeps it open, and everything else lies beside it.
  std::string lock_path() const { return path_ + "/LOCK"; }

  const std::string path_;
  const IdentifyFile identify_;
  std::optional<FileIdentity> identity_;  // of the lock's file

  int64_t unflushed_bytes_ = 0;
  const std::shared_ptr<std::atomic<bool>> failed_ = std::make_shared<std::atomic<bool>>(false);
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
};

inline rocksdb::Slice ToSlice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }
inline std::string_view ToView(const rocksdb::Slice& bytes) { return {bytes.data(), bytes.size()}; }

}  // namespace headstart::ledger_internal

#endif  // HEADSTART_GATEWAY_LEDGER_INTERNAL_LEDGER_DATABASE_H_
