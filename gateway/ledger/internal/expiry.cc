#include "gateway/ledger/internal/expiry.h"

#include <memory>

#include "gateway/ledger/internal/ledger_keys.h"

namespace headstart::ledger_internal {

absl::Status Expiry::Stage() {
  if (absl::Status status = StageRecords(); !status.ok()) return status;
  return has_more_ ? absl::OkStatus() : StageHours();
}

// Ids lie by tenant, so each is removed by itself; the entries are one range.
absl::Status Expiry::StageRecords() {
  const rocksdb::Slice end = ToSlice(records_end_);
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &end;
  const std::unique_ptr<rocksdb::Iterator> record(database_.db().NewIterator(options, database_.records()));
  rocksdb::Status staged;
  int count = 0;
  for (record->SeekToFirst(); record->Valid() && count < limit_ && staged.ok(); record->Next(), ++count) {
    staged = batch_.Delete(database_.ids(), ToSlice(IdKeyOf(ToView(record->key()))));
  }
  if (staged.ok()) staged = record->status();
  has_more_ = staged.ok() && record->Valid();
  const std::string next = has_more_ ? record->key().ToString() : records_end_;
  if (staged.ok() && count > 0) staged = batch_.DeleteRange(database_.records(), rocksdb::Slice(), ToSlice(next));
  return FromRocks(staged, "cannot remove old entries of the ledger");
}

absl::Status Expiry::StageHours() {
  const rocksdb::Slice end = ToSlice(hours_end_);
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &end;
  const std::unique_ptr<rocksdb::Iterator> hour(database_.db().NewIterator(options, database_.hours()));
  hour->SeekToFirst();
  rocksdb::Status staged = hour->status();
  if (staged.ok() && hour->Valid()) staged = batch_.DeleteRange(database_.hours(), rocksdb::Slice(), end);
  return FromRocks(staged, "cannot remove old sums of the ledger");
}

}  // namespace headstart::ledger_internal
