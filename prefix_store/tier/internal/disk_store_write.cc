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

// Room that a probe asks for when no batch was refused: as much as its test file took.
constexpr int64_t kProbeBytes = 1 << 20;

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
    const auto use = store_.database_.Take();
    if (!use.ok()) {
      status_ = use.status();
      return;
    }
    ++blocks_;
    AddBytes(**use, place.key, bytes);
    AddRecord(**use, place.key, {meta, bytes.checksum, static_cast<uint32_t>(bytes.bytes.size())});
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
  const int64_t bytes = static_cast<int64_t>(batch.GetDataSize());
  absl::Status status = MakeRoom(bytes);
  if (status.ok()) status = WriteBatch(batch, kWriting);
  if (!status.ok()) refused_bytes_ = bytes;
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
      "{} bytes more do not fit the disk tier in {}: its files take {} of {} bytes, the device has {} free, "
      "and no garbage is left that could be collected",
      bytes, directory_->path(), directory_->FileSizes().all, plan_.capacity_bytes,
      directory_->FreeBytes().value_or(0)));
}

absl::Status DiskStore::WriteBatch(rocksdb::WriteBatch& batch, std::string_view what) {
  return Change([&](BlockDatabase& database) { return FromRocks(database.Write(batch), what); });
}

// Debian's RocksDB is built with its assertions, of which one ends the process when a log that could not be written is
// touched again: after a failure nothing is, until a probe opens the database anew.
absl::Status DiskStore::Change(absl::FunctionRef<absl::Status(BlockDatabase&)> change) {
  if (!failure_.ok()) return failure_;
  const auto use = database_.Take();
  if (!use.ok()) return use.status();
  failure_ = change(**use);
  return failure_;
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
      fmt::format("removed {} blocks from disk that are damaged, of another size, or without the one before them, as a "
                  "kill leaves some",
                  raw_keys.size()));
  return RemoveRecords(raw_keys);
}

// Reads find nothing meanwhile, which is the truth of whatever can be asked for. A database that cannot be opened anew
// afterwards is empty all the same: that shows when it is written to.
absl::Status DiskStore::Clear() {
  MutexLock lock(mutex_);
  absl::Status status = directory_->Confirm();
  if (!status.ok()) return status;
  failure_ = database_.Replace(absl::NotFoundError("the disk tier is being cleared"), [&] {
    status = directory_->Clear(directory_->blocks());
    return OpenAsFarAsPossible();
  });
  if (!status.ok()) return status;
  suspect_ = false;
  counters_.cleared.fetch_add(1);
  return absl::OkStatus();
}

absl::Status DiskStore::Sync() {
  MutexLock lock(mutex_);
  return Change([&](BlockDatabase& database) { return FromRocks(database.db().SyncWAL(), kSyncing); });
}

// --- after a failure

// Whether the device works is tried beside the database first, which goes on serving reads as long as it does not.
absl::Status DiskStore::Probe() {
  MutexLock lock(mutex_);
  if (absl::Status status = directory_->Confirm(); !status.ok()) return status;
  if (absl::Status status = directory_->TryToWrite(); !status.ok()) return status;
  if (absl::Status status = names_->Probe(); !status.ok()) return status;
  if (absl::Status status = Revive(); !status.ok()) return status;
  if (absl::Status status = RemoveSuspects(); !status.ok()) return status;
  return MakeRoom(refused_bytes_ > 0 ? refused_bytes_ : kProbeBytes);
}

// Flushing waits for what runs in the background and shows whether it failed.
bool DiskStore::IsOpenAndWell() {
  const auto use = database_.Take();
  return use.ok() && !(*use)->failed() && (*use)->Flush().ok();
}

// Opens the database anew when it failed or is not there. When that fails too it is opened for reading alone.
absl::Status DiskStore::Revive() {
  if (failure_.ok() && IsOpenAndWell()) return absl::OkStatus();
  failure_ = database_.Replace(absl::UnavailableError("the disk tier's database is being opened anew"),
                               [&] { return OpenAsFarAsPossible(); });
  if (!failure_.ok()) return failure_;
  if (FindForeign()) CleanNow();
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
