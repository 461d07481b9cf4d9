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
  options.listeners = {NewManualRecovery(std::make_shared<std::atomic<bool>>())};
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

Opened TryOpen(const rocksdb::Options& options, const std::string& path, bool read_only = false) {
  rocksdb::DB* raw = nullptr;
  rocksdb::Status status =
      read_only ? rocksdb::DB::OpenForReadOnly(options, path, &raw) : rocksdb::DB::Open(options, path, &raw);
  std::unique_ptr<rocksdb::DB> db(raw);
  if (status.ok()) status = db->VerifyChecksum();
  if (!status.ok()) db.reset();
  return {status, std::move(db)};
}

// As it is, else repaired, else empty. A repair that the device failed says nothing of the records.
Opened OpenOrRepair(const rocksdb::Options& options, const CacheDirectory& directory,
                    const std::function<void(std::string_view)>& on_damage) {
  const std::string path = directory.names();
  Opened opened = TryOpen(options, path);
  if (opened.status.ok() || !IsDamage(opened.status)) return opened;
  on_damage(fmt::format("{} is damaged and will be repaired, which may lose the last named records: {}", path,
                        opened.status.ToString()));
  const rocksdb::Status repaired = rocksdb::RepairDB(path, options);
  if (!repaired.ok() && !IsDamage(repaired)) return {repaired, nullptr};
  if (repaired.ok()) opened = TryOpen(options, path);
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

absl::StatusOr<std::unique_ptr<NamedRecords>> NamedRecords::Open(CacheDirectory& directory, rocksdb::Env& env,
                                                                 std::function<void(std::string_view)> on_damage) {
  std::unique_ptr<NamedRecords> names(new NamedRecords(directory, env, std::move(on_damage)));
  MutexLock lock(names->mutex_);
  names->failure_ = directory.Confirm();
  if (!names->failure_.ok()) return names;
  if (absl::Status status = names->OpenDatabase(); !status.ok() && directory.is_new()) return status;
  return names;
}

absl::Status NamedRecords::OpenDatabase() {
  db_.reset();
  Opened opened = OpenOrRepair(NamesOptions(env_), directory_, on_damage_);
  db_ = std::move(opened.db);
  failure_ = FromRocks(opened.status, fmt::format("cannot open {}", directory_.names()));
  if (!failure_.ok()) OpenForReading();
  return failure_;
}

void NamedRecords::OpenForReading() {
  rocksdb::Options options = NamesOptions(env_);
  db_ = TryOpen(options, directory_.names(), /*read_only=*/true).db;
}

// As with blocks (disk_store.h), what failed is not touched again before it is opened anew.
absl::Status NamedRecords::Change(std::string_view what, absl::FunctionRef<rocksdb::Status(rocksdb::DB&)> change) {
  MutexLock lock(mutex_);
  if (failure_.ok()) failure_ = FromRocks(change(*db_), what);
  return failure_;
}

absl::Status NamedRecords::Put(std::string_view id, std::string_view bytes) {
  return Change("cannot write a named record",
                [&](rocksdb::DB& db) { return db.Put(Synced(), ToSlice(id), ToSlice(bytes)); });
}

absl::Status NamedRecords::Remove(std::string_view id) {
  return Change("cannot remove a named record", [&](rocksdb::DB& db) { return db.Delete(Synced(), ToSlice(id)); });
}

absl::Status NamedRecords::ForEach(absl::FunctionRef<void(std::string_view id, std::string_view bytes)> visit) const {
  MutexLock lock(mutex_);
  if (db_ == nullptr) return failure_;
  const std::unique_ptr<rocksdb::Iterator> record(db_->NewIterator(rocksdb::ReadOptions()));
  for (record->SeekToFirst(); record->Valid(); record->Next()) visit(ToView(record->key()), ToView(record->value()));
  return FromRocks(record->status(), "cannot read the named records");
}

absl::Status NamedRecords::Probe() {
  MutexLock lock(mutex_);
  return failure_.ok() ? absl::OkStatus() : OpenDatabase();
}

}  // namespace headstart::internal
