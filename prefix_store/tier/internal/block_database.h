// BlockDatabase: the RocksDB that holds blocks: a column family of block bytes in blob files and one of small records.
// Here are its options, and nothing of what the bytes mean.
//
// Thread-safety: as RocksDB: all methods from any thread.
// Ownership: `env` outlives it; the directory is claimed (cache_directory.h) while it lives.

#ifndef HEADSTART_PREFIX_STORE_TIER_INTERNAL_BLOCK_DATABASE_H_
#define HEADSTART_PREFIX_STORE_TIER_INTERNAL_BLOCK_DATABASE_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/status.h"

namespace headstart::internal {

struct DatabaseSettings {
  std::string path;
  rocksdb::Env* env = nullptr;
  int max_background_jobs = 2;
  int64_t write_buffer_bytes = 64 << 20;
  int64_t blob_file_bytes = 256 << 20;
  std::function<void(std::string_view)> on_error;  // a line of RocksDB's own log that says that something failed
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

  // Writes what is in memory to files and returns when the log that held it is gone.
  rocksdb::Status Flush();

  // Returns when no file waits to be deleted.
  void SettleFiles();

 private:
  enum Family { kDefault, kBytes, kRecords };  // RocksDB insists on the first, which stays empty

  BlockDatabase() = default;

  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
};

}  // namespace headstart::internal

#endif  // HEADSTART_PREFIX_STORE_TIER_INTERNAL_BLOCK_DATABASE_H_
