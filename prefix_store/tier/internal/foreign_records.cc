#include "prefix_store/tier/internal/foreign_records.h"

#include <array>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "prefix_store/tier/internal/record_codec.h"
#include "prefix_store/tier/internal/rocks_status.h"
#include "rocksdb/iterator.h"
#include "rocksdb/options.h"
#include "rocksdb/write_batch.h"

namespace headstart::internal {
namespace {

constexpr std::string_view kRemoving = "cannot remove the blocks of other models";

// Longer than any key, and after all of them.
const std::string& AfterAllKeys() {
  static const std::string key(64, '\xff');
  return key;
}

struct KeyRange {
  std::string begin;
  std::string end;
};

std::array<KeyRange, 2> ForeignRanges(const Fingerprint& own) {
  const std::string after = KeysAfter(own);
  return {KeyRange{"", KeysOf(own)}, KeyRange{after.empty() ? AfterAllKeys() : after, AfterAllKeys()}};
}

// Calls `visit` for each record of the range until it returns false.
template <typename Visit>
rocksdb::Status ForEachIn(BlockDatabase& database, const KeyRange& range, Visit visit) {
  const rocksdb::Slice end(range.end);
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  options.iterate_upper_bound = &end;
  const std::unique_ptr<rocksdb::Iterator> record(database.db().NewIterator(options, database.records()));
  for (record->Seek(range.begin); record->Valid() && visit(); record->Next()) {
  }
  return record->status();
}

rocksdb::Status DeleteRange(BlockDatabase& database, const KeyRange& range) {
  rocksdb::WriteBatch batch;
  for (rocksdb::ColumnFamilyHandle* family : {database.bytes(), database.records()}) {
    const rocksdb::Status added = batch.DeleteRange(family, range.begin, range.end);
    if (!added.ok()) return added;
  }
  return database.db().Write(rocksdb::WriteOptions(), &batch);
}

rocksdb::Status Merge(BlockDatabase& database, std::atomic<bool>& stop) {
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  options.canceled = &stop;
  for (rocksdb::ColumnFamilyHandle* family : {database.bytes(), database.records()}) {
    const rocksdb::Status status = database.db().CompactRange(options, family, nullptr, nullptr);
    if (!status.ok()) return status;
  }
  database.SettleFiles();
  return rocksdb::Status::OK();
}

}  // namespace

bool HasForeignRecords(BlockDatabase& database, const Fingerprint& own) {
  bool any = false;
  for (const KeyRange& range : ForeignRanges(own)) {
    ForEachIn(database, range, [&] {
      any = true;
      return false;
    }).PermitUncheckedError();
  }
  return any;
}

absl::StatusOr<int64_t> RemoveForeignRecords(BlockDatabase& database, const Fingerprint& own, std::atomic<bool>& stop) {
  int64_t count = 0;
  for (const KeyRange& range : ForeignRanges(own)) {
    rocksdb::Status status = ForEachIn(database, range, [&] {
      ++count;
      return !stop.load();
    });
    if (status.ok() && !stop.load()) status = DeleteRange(database, range);
    if (!status.ok()) return FromRocks(status, kRemoving);
  }
  const rocksdb::Status merged = Merge(database, stop);
  if (!merged.ok() && !merged.IsIncomplete()) return FromRocks(merged, kRemoving);
  return count;
}

}  // namespace headstart::internal
