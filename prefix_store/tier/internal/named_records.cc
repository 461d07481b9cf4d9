#include "prefix_store/tier/internal/named_records.h"

#include <utility>

#include "fmt/format.h"
#include "prefix_store/tier/internal/rocks_log.h"
#include "prefix_store/tier/internal/rocks_status.h"
#include "rocksdb/options.h"

namespace headstart::internal {
namespace {

rocksdb::Options NamesOptions(rocksdb::Env& env) {
  rocksdb::Options options;
  options.env = &env;
  options.create_if_missing = true;
  options.info_log = NewErrorLogger(nullptr);
  options.listeners = {NewManualRecovery()};
  options.max_bgerror_resume_count = 0;
  options.write_buffer_size = 256 << 10;  // there are few
  options.compression = rocksdb::kNoCompression;
  options.allow_fallocate = false;
  options.max_manifest_file_size = 64 << 10;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  return options;
}

struct Opened {
  rocksdb::Status status;
  std::unique_ptr<rocksdb::DB> db;
};

Opened TryOpen(const rocksdb::Options& options, const std::string& path) {
  rocksdb::DB* raw = nullptr;
  rocksdb::Status status = rocksdb::DB::Open(options, path, &raw);
  std::unique_ptr<rocksdb::DB> db(raw);
  if (status.ok()) status = db->VerifyChecksum();
  if (!status.ok()) db.reset();
  return {status, std::move(db)};
}

// As it is, else repaired, else empty.
Opened OpenOrRepair(const rocksdb::Options& options, const CacheDirectory& directory,
                    const std::function<void(std::string_view)>& on_damage) {
  const std::string path = directory.names();
  Opened opened = TryOpen(options, path);
  if (opened.status.ok() || !IsDamage(opened.status)) return opened;
  on_damage(fmt::format("{} is damaged and will be repaired, which may lose the last named records: {}", path,
                        opened.status.ToString()));
  if (rocksdb::RepairDB(path, options).ok()) opened = TryOpen(options, path);
  if (opened.status.ok() || !IsDamage(opened.status)) return opened;
  on_damage(fmt::format("{} cannot be repaired: its named records are lost: {}", path, opened.status.ToString()));
  if (!directory.Clear(path).ok()) return opened;
  return TryOpen(options, path);
}

rocksdb::WriteOptions Synced() {
  rocksdb::WriteOptions options;
  options.sync = true;
  return options;
}

}  // namespace

absl::StatusOr<std::unique_ptr<NamedRecords>> NamedRecords::Open(const CacheDirectory& directory, rocksdb::Env& env,
                                                                 std::function<void(std::string_view)> on_damage) {
  Opened opened = OpenOrRepair(NamesOptions(env), directory, on_damage);
  if (!opened.status.ok()) return FromRocks(opened.status, fmt::format("cannot open {}", directory.names()));
  return std::unique_ptr<NamedRecords>(new NamedRecords(std::move(opened.db)));
}

absl::Status NamedRecords::Put(std::string_view id, std::string_view bytes) {
  return FromRocks(db_->Put(Synced(), ToSlice(id), ToSlice(bytes)), "cannot write a named record");
}

absl::Status NamedRecords::Remove(std::string_view id) {
  return FromRocks(db_->Delete(Synced(), ToSlice(id)), "cannot remove a named record");
}

absl::Status NamedRecords::ForEach(absl::FunctionRef<void(std::string_view id, std::string_view bytes)> visit) const {
  const std::unique_ptr<rocksdb::Iterator> record(db_->NewIterator(rocksdb::ReadOptions()));
  for (record->SeekToFirst(); record->Valid(); record->Next()) visit(ToView(record->key()), ToView(record->value()));
  return FromRocks(record->status(), "cannot read the named records");
}

absl::Status NamedRecords::Probe() { return FromRocks(db_->Resume(), "named records cannot be written"); }

}  // namespace headstart::internal
