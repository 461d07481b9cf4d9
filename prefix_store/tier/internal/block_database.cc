#include "prefix_store/tier/internal/block_database.h"

#include <utility>

#include "prefix_store/tier/internal/rocks_log.h"
#include "rocksdb/cache.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"

namespace headstart::internal {
namespace {

constexpr size_t kCacheBytes = 32 << 20;  // of places of blocks in blob files: about 60 bytes a block
constexpr size_t kArenaBytes = 64 << 10;
constexpr uint64_t kManifestBytes = 128 << 10;

rocksdb::BlockBasedTableOptions TableOptions(std::shared_ptr<rocksdb::Cache> cache) {
  rocksdb::BlockBasedTableOptions table;
  table.checksum = rocksdb::kXXH3;  // several times faster than CRC32C without special instructions
  table.format_version = 5;
  table.block_cache = std::move(cache);
  table.no_block_cache = table.block_cache == nullptr;
  return table;
}

rocksdb::ColumnFamilyOptions SmallRecords() {
  rocksdb::ColumnFamilyOptions options;
  options.write_buffer_size = size_t{16} << 30;  // never full by itself: see BlockDatabase::Write
  options.arena_block_size = kArenaBytes;
  options.compression = rocksdb::kNoCompression;  // digests and token ids: little to gain, and one thing less to break
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(TableOptions(nullptr)));
  return options;
}

rocksdb::ColumnFamilyOptions BlockBytesOptions(const DatabaseSettings& settings) {
  rocksdb::ColumnFamilyOptions options = SmallRecords();
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(TableOptions(rocksdb::NewLRUCache(kCacheBytes))));
  options.enable_blob_files = true;
  options.min_blob_size = 0;
  options.blob_file_size = static_cast<uint64_t>(settings.blob_file_bytes);
  // Garbage is collected when space is short (disk_space.h), never behind its back: collecting takes space first.
  options.enable_blob_garbage_collection = false;
  return options;
}

rocksdb::DBOptions DatabaseOptions(const DatabaseSettings& settings, std::shared_ptr<std::atomic<bool>> failed) {
  rocksdb::DBOptions options;
  options.env = settings.env;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.max_background_jobs = settings.max_background_jobs;
  options.info_log = NewErrorLogger(settings.on_error);
  options.info_log_level = rocksdb::InfoLogLevel::ERROR_LEVEL;
  options.listeners = {NewManualRecovery(std::move(failed))};
  options.max_bgerror_resume_count = 0;
  // A block's bytes and its record reach files together, and the log goes when both have.
  options.atomic_flush = true;
  // A log or table takes on disk what is in it, so that sizes of files are what counts against the cap.
  options.allow_fallocate = false;
  options.max_manifest_file_size = kManifestBytes;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  return options;
}

rocksdb::Status VerifyTables(rocksdb::DB& db) {
  rocksdb::ReadOptions options;
  options.readahead_size = 2 << 20;
  return db.VerifyChecksum(options);
}

}  // namespace

BlockDatabase::Opened BlockDatabase::Open(const DatabaseSettings& settings, Access access) {
  const std::vector<rocksdb::ColumnFamilyDescriptor> families = {{rocksdb::kDefaultColumnFamilyName, SmallRecords()},
                                                                 {"bytes", BlockBytesOptions(settings)},
                                                                 {"records", SmallRecords()}};
  std::unique_ptr<BlockDatabase> opened(new BlockDatabase);
  // RocksDB would make it too, and call it an error that it was not there.
  if (access == Access::kReadWrite) settings.env->CreateDirIfMissing(settings.path).PermitUncheckedError();
  rocksdb::DB* db = nullptr;
  const rocksdb::DBOptions options = DatabaseOptions(settings, opened->failed_);
  rocksdb::Status status = access == Access::kReadOnly
                               ? rocksdb::DB::OpenForReadOnly(options, settings.path, families, &opened->families_, &db)
                               : rocksdb::DB::Open(options, settings.path, families, &opened->families_, &db);
  opened->db_.reset(db);
  opened->write_buffer_bytes_ = settings.write_buffer_bytes;
  if (status.ok()) status = VerifyTables(*db);
  if (!status.ok()) return {status, nullptr};
  return {status, std::move(opened)};
}

BlockDatabase::~BlockDatabase() {
  if (db_ == nullptr) return;
  for (rocksdb::ColumnFamilyHandle* family : families_) db_->DestroyColumnFamilyHandle(family).PermitUncheckedError();
  db_->Close().PermitUncheckedError();
}

rocksdb::Status BlockDatabase::Write(rocksdb::WriteBatch& batch) {
  if (unflushed_bytes_ >= write_buffer_bytes_) {
    rocksdb::FlushOptions options;
    options.wait = false;
    if (const rocksdb::Status begun = db_->Flush(options, families_); !begun.ok()) return begun;
    unflushed_bytes_ = 0;
  }
  const rocksdb::Status status = db_->Write(rocksdb::WriteOptions(), &batch);
  if (status.ok()) unflushed_bytes_ += static_cast<int64_t>(batch.GetDataSize());
  return status;
}

rocksdb::Status BlockDatabase::Flush() {
  unflushed_bytes_ = 0;
  const rocksdb::Status status = db_->Flush(rocksdb::FlushOptions(), families_);
  SettleFiles();
  return status;
}

void BlockDatabase::SettleFiles() {
  // Listing logs while deletions are off waits for those under way; turning them on again carries out the rest.
  db_->DisableFileDeletions().PermitUncheckedError();
  rocksdb::VectorLogPtr logs;
  db_->GetSortedWalFiles(logs).PermitUncheckedError();
  db_->EnableFileDeletions(/*force=*/true).PermitUncheckedError();
}

}  // namespace headstart::internal
