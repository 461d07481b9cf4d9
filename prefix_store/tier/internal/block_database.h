// BlockDatabase: the RocksDB that holds blocks: a column family of block bytes in blob files and one of small records.
// Here are its options, and nothing of what the bytes mean.
//
// Thread-safety: as RocksDB: all methods from any thread.
// Ownership: `env` outlives it; the directory is claimed (cache_directory.h) while it lives.

#ifndef HEADSTART_PREFIX_STORE_TIER_INTERNAL_BLOCK_DATABASE_H_
#define HEADSTART_PREFIX_STORE_TIER_INTERNAL_BLOCK_DATABASE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/status.h"
#include "rocksdb/write_batch.h"

namespace headstart::internal {

struct DatabaseSettings {
  std::string path;
  rocksdb::Env* env = nullptr;
  int max_background_jobs = 2;
  int64_t write_buffer_bytes = 64 << 20;
  int64_t blob_file_bytes = 256 << 20;
  std::function<void(std::string_view)> on_error =
      nullptr;  // a line of RocksDB's own log that says that something failed
};

class BlockDatabase {
 public:
  enum class Access { kReadWrite, kReadOnly };

  struct Opened {
    rocksdb::Status status;
    std::unique_ptr<BlockDatabase> database;  // null unless status is OK
  };

  // Creates it when it is not there, unless read-only. Every table's checksums are verified, so that what is found
  // damaged later was damaged later.
  static Opened Open(const DatabaseSettings& settings, Access access);
  ~BlockDatabase();
  BlockDatabase(const BlockDatabase&) = delete;
  BlockDatabase& operator=(const BlockDatabase&) = delete;

  rocksdb::DB& db() { return *db_; }
  rocksdb::ColumnFamilyHandle* bytes() { return families_[kBytes]; }
  rocksdb::ColumnFamilyHandle* records() { return families_[kRecords]; }

  // Whether background work failed: nothing can be written before it is opened anew.
  bool failed() const { return *failed_; }

  // Writes what is in memory to files and returns when the log that held it is gone.
  rocksdb::Status Flush();

  // Writes a batch, after it has begun to flush if as much waits in memory as the settings say. RocksDB is not left to
  // do so by itself: where that fails, it keeps references to column families, over which closing ends the process
  // (7.8, with assertions). From one thread at a time.
  rocksdb::Status Write(rocksdb::WriteBatch& batch);

  // Returns when no file waits to be deleted.
  void SettleFiles();

 private:
  enum Family { kDefault, kBytes, kRecords };  // RocksDB insists on the first, which stays empty

  BlockDatabase() = default;

  int64_t write_buffer_bytes_ = 0;
  int64_t unflushed_bytes_ = 0;
  const std::shared_ptr<std::atomic<bool>> failed_ = std::make_shared<std::atomic<bool>>(false);
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
};

}  // namespace headstart::internal

#endif  // HEADSTART_PREFIX_STORE_TIER_INTERNAL_BLOCK_DATABASE_H_
