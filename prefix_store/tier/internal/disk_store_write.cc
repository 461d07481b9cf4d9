// What changes the disk store's files, and what is done once that failed.

#include <utility>

#include "fmt/format.h"
#include "prefix_store/tier/internal/disk_store.h"
#include "prefix_store/tier/internal/record_codec.h"
#include "prefix_store/tier/internal/rocks_status.h"
#include "rocksdb/options.h"
#include "rocksdb/slice.h"

namespace headstart::internal {
namespace {

constexpr std::string_view kWriting = "cannot write to the disk tier";
constexpr std::string_view kRemoving = "cannot remove blocks from the disk tier";
constexpr std::string_view kSyncing = "cannot sync the disk tier";

absl::Status Closed() {
  return absl::UnavailableError("the disk tier's database is closed after a failure, until a probe opens it again");
}

rocksdb::Status AddRemovals(BlockDatabase& database, std::span<const std::string> raw_keys,
                            rocksdb::WriteBatch& batch) {
  for (const std::string& raw_key : raw_keys) {
    const std::optional<RecordKey> key = DecodeRecordKey(raw_key);
    rocksdb::Status added = batch.Delete(database.records(), raw_key);
    if (added.ok() && key.has_value())
      added = batch.Delete(database.bytes(), EncodeBytesKey(key->fingerprint, key->block));
    if (!added.ok()) return added;
  }
  return rocksdb::Status::OK();
}

}  // namespace

class DiskStore::Writer final : public TierWriter {
 public:
  // The bytes are gathered in one buffer, which is not to be moved while it grows.
  explicit Writer(DiskStore& store) : store_(store), batch_(static_cast<size_t>(store.plan_.batch_bytes)) {}

  void Add(const BlockPlace& place, const BlockMeta& meta, const BlockBytes& bytes) override {
    const SharedDatabase::Use use = store_.database_.Take();
    if (!use) {
      status_ = Closed();
      return;
    }
    ++blocks_;
    AddBytes(*use, place.key, bytes);
    AddRecord(*use, place.key, {meta, bytes.checksum, static_cast<uint32_t>(bytes.bytes.size())});
  }

  absl::Status Commit() override {
    if (status_.ok()) status_ = store_.Write(batch_, std::exchange(blocks_, 0));
    batch_.Clear();
    return std::exchange(status_, absl::OkStatus());
  }

 private:
  void AddBytes(BlockDatabase& database, const PrefixKey& block, const BlockBytes& bytes) {
    const std::string key = EncodeBytesKey(store_.options_.fingerprint, block);
    const std::string trailer = EncodeTrailer(bytes);
    const rocksdb::Slice key_part(key);
    const rocksdb::Slice parts[] = {{reinterpret_cast<const char*>(bytes.bytes.data()), bytes.bytes.size()}, trailer};
    Note(batch_.Put(database.bytes(), rocksdb::SliceParts(&key_part, 1), rocksdb::SliceParts(parts, 2)));
  }

  void AddRecord(BlockDatabase& database, const PrefixKey& block, const BlockRecord& record) {
    const std::string key = EncodeRecordKey({store_.options_.fingerprint, record.meta.depth, block});
    Note(batch_.Put(database.records(), key, EncodeRecord(block, record)));
  }

  void Note(const rocksdb::Status& status) {
    if (!status.ok()) status_ = FromRocks(status, "cannot gather blocks for the disk tier");
  }

  DiskStore& store_;
  rocksdb::WriteBatch batch_;
  int64_t blocks_ = 0;
  absl::Status status_;  // of what was added so far
};

absl::Status DiskStore::Write(rocksdb::WriteBatch& batch, int64_t blocks) {
  if (blocks == 0) return absl::OkStatus();
  MutexLock lock(mutex_);
  absl::Status status = MakeRoom(static_cast<int64_t>(batch.GetDataSize()));
  if (status.ok()) status = WriteBatch(batch, kWriting);
  (status.ok() ? counters_.written_blocks : counters_.failed_writes).fetch_add(blocks);
  return status;
}

// Damage that a compaction meets lies in some block's bytes, and stops RocksDB for good: it takes a probe to find the
// block and go on without it.
absl::Status DiskStore::MakeRoom(int64_t bytes) {
  bool fits = true;
  bool damage = false;
  const absl::Status status = Change([&](BlockDatabase& database) {
    const absl::StatusOr<bool> made = space_.MakeRoom(database, bytes);
    fits = made.value_or(true);
    damage = absl::IsDataLoss(made.status()) || absl::IsNotFound(made.status());
    return damage ? absl::UnavailableError(made.status().message()) : made.status();
  });
  suspect_ = suspect_ || damage;
  if (!status.ok() || fits) return status;
  return absl::ResourceExhaustedError(fmt::format(
      "{} bytes more do not fit the disk tier: its files take {} of {} bytes, and no garbage is left in them", bytes,
      directory_->FileSizes().all, plan_.capacity_bytes));
}

absl::Status DiskStore::WriteBatch(rocksdb::WriteBatch& batch, std::string_view what) {
  return Change([&](BlockDatabase& database) { return FromRocks(database.Write(batch), what); });
}

// Debian's RocksDB is built with its assertions, of which one ends the process when a log that could not be written is
// touched again: after a failure nothing is, until a probe opens the database anew.
absl::Status DiskStore::Change(absl::FunctionRef<absl::Status(BlockDatabase&)> change) {
  if (!failure_.ok()) return failure_;
  const SharedDatabase::Use use = database_.Take();
  if (!use) return Closed();
  absl::Status status = change(*use);
  failure_ = status;
  return status;
}

absl::Status DiskStore::Remove(std::span<const BlockPlace> places) {
  std::vector<std::string> raw_keys;
  raw_keys.reserve(places.size());
  for (const BlockPlace& place : places) {
    raw_keys.push_back(EncodeRecordKey({options_.fingerprint, place.depth, place.key}));
  }
  MutexLock lock(mutex_);
  absl::Status status = RemoveRecords(raw_keys);
  if (status.ok()) counters_.removed_blocks.fetch_add(static_cast<int64_t>(places.size()));
  return status;
}

// Removes records and the bytes they belong to.
absl::Status DiskStore::RemoveRecords(std::span<const std::string> raw_keys) {
  rocksdb::WriteBatch batch;
  const absl::Status added =
      Change([&](BlockDatabase& database) { return FromRocks(AddRemovals(database, raw_keys, batch), kRemoving); });
  if (!added.ok()) return added;
  space_.NoteGarbage();
  return WriteBatch(batch, kRemoving);
}

absl::Status DiskStore::RemoveBadRecords(std::span<const std::string> raw_keys) {
  if (raw_keys.empty()) return absl::OkStatus();
  counters_.bad_records.fetch_add(static_cast<int64_t>(raw_keys.size()));
  Say(DiskEventSeverity::kWarning,
      fmt::format("removed {} blocks from disk that were damaged, of another size or without the one before them",
                  raw_keys.size()));
  return RemoveRecords(raw_keys);
}

absl::Status DiskStore::Sync() {
  MutexLock lock(mutex_);
  return Change([&](BlockDatabase& database) { return FromRocks(database.db().SyncWAL(), kSyncing); });
}

// --- after a failure

// Whether the device works is tried beside the database first, which goes on serving reads as long as it does not.
absl::Status DiskStore::Probe() {
  if (absl::Status status = directory_->TryToWrite(); !status.ok()) return status;
  if (absl::Status status = names_->Probe(); !status.ok()) return status;
  MutexLock lock(mutex_);
  if (absl::Status status = Revive(); !status.ok()) return status;
  if (absl::Status status = RemoveSuspects(); !status.ok()) return status;
  return MakeRoom(plan_.batch_bytes);
}

// Flushing waits for what runs in the background and shows whether it failed.
bool DiskStore::IsOpenAndWell() {
  const SharedDatabase::Use use = database_.Take();
  return use && !use->failed() && use->Flush().ok();
}

// Opens the database anew when it failed or is not there. When that fails too it is opened for reading alone.
absl::Status DiskStore::Revive() {
  if (failure_.ok() && IsOpenAndWell()) return absl::OkStatus();
  absl::Status status;
  database_.Replace([&] {
    absl::StatusOr<std::unique_ptr<BlockDatabase>> opened = OpenDatabase();
    status = opened.status();
    if (opened.ok()) return *std::move(opened);
    return BlockDatabase::Open(Settings(), BlockDatabase::Access::kReadOnly).database;
  });
  failure_ = status;
  if (!status.ok()) return status;
  counters_.reopened.fetch_add(1);
  Say(DiskEventSeverity::kInfo, fmt::format("opened the disk tier in {} again", directory_->path()));
  return absl::OkStatus();
}

absl::Status DiskStore::RemoveSuspects() {
  if (!suspect_) return absl::OkStatus();
  std::vector<std::string> bad;
  const absl::StatusOr<VerifyReport> report =
      Verify([&](std::string_view raw_key, const BadBlock&) { bad.emplace_back(raw_key); });
  if (!report.ok()) return report.status();
  if (absl::Status status = RemoveBadRecords(bad); !status.ok()) return status;
  suspect_ = false;
  return absl::OkStatus();
}

std::unique_ptr<TierWriter> DiskStore::NewWriter() { return std::make_unique<Writer>(*this); }

}  // namespace headstart::internal
