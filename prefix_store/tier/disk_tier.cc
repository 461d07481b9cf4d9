#include "prefix_store/tier/disk_tier.h"

#include <atomic>
#include <limits>
#include <optional>
#include <thread>
#include <utility>

#include "fmt/format.h"
#include "prefix_store/tier/internal/block_database.h"
#include "prefix_store/tier/internal/cache_directory.h"
#include "prefix_store/tier/internal/disk_space.h"
#include "prefix_store/tier/internal/foreign_records.h"
#include "prefix_store/tier/internal/named_records.h"
#include "prefix_store/tier/internal/record_codec.h"
#include "prefix_store/tier/internal/record_scan.h"
#include "prefix_store/tier/internal/rocks_status.h"
#include "prefix_store/tier/internal/shared_database.h"
#include "prefix_store/tier/internal/space_plan.h"
#include "prefix_store/tier/internal/verify_blocks.h"
#include "rocksdb/env.h"
#include "rocksdb/options.h"
#include "rocksdb/slice.h"
#include "rocksdb/write_batch.h"

namespace headstart {
namespace {

using internal::BlockDatabase;
using internal::CacheDirectory;

constexpr std::string_view kWriting = "cannot write to the disk tier";
constexpr std::string_view kRemoving = "cannot remove blocks from the disk tier";

// What a test writes to find out whether writing works: enough to need a page of the device.
constexpr size_t kProbeBytes = 4096;
constexpr char kProbeKey[] = "probe";

absl::Status Closed() {
  return absl::UnavailableError("the disk tier's database is closed after a failure, until a probe opens it again");
}

rocksdb::Env& EnvOf(rocksdb::Env* env) { return env != nullptr ? *env : *rocksdb::Env::Default(); }

absl::Status Validate(const DiskTierOptions& options) {
  if (options.directory.empty()) return absl::InvalidArgumentError("a disk tier needs a directory");
  if (options.block_bytes >= 1 && options.block_bytes <= std::numeric_limits<uint32_t>::max() / 2) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      fmt::format("a disk tier of blocks of {} bytes: a block has from 1 byte to 2 GiB", options.block_bytes));
}

}  // namespace

class DiskTier::Impl {
 public:
  class Writer;

  Impl(const DiskTierOptions& options, const internal::SpacePlan& plan, std::unique_ptr<CacheDirectory> directory,
       std::unique_ptr<internal::NamedRecords> names)
      : options_(options),
        plan_(plan),
        directory_(std::move(directory)),
        names_(std::move(names)),
        space_(plan, *directory_) {}
  ~Impl();

  absl::Status Start();

  const internal::SpacePlan& plan() const { return plan_; }
  internal::NamedRecords& names() { return *names_; }
  const CacheDirectory& directory() const { return *directory_; }

  absl::Status ReadOne(BlockDatabase& database, const PrefixKey& key, absl::FunctionRef<void(const BlockBytes&)> sink);
  std::vector<absl::Status> Read(std::span<const BlockPlace> places,
                                 absl::FunctionRef<void(size_t index, const BlockBytes&)> sink);
  absl::Status Write(rocksdb::WriteBatch& batch, int64_t blocks);
  absl::Status Remove(std::span<const BlockPlace> places);
  absl::Status Recover(absl::FunctionRef<bool(const PrefixKey&, const BlockMeta&)> visit);
  absl::Status Sync();
  absl::Status Probe();
  absl::StatusOr<VerifyReport> Verify(absl::FunctionRef<void(const BadBlock&)> bad);
  void VisitCounters(absl::FunctionRef<void(std::string_view name, int64_t value)> visit) const;
  void WaitForCleaning();

 private:
  struct Counters {
    std::atomic<int64_t> read_blocks = 0;
    std::atomic<int64_t> missing_blocks = 0;
    std::atomic<int64_t> damaged_blocks = 0;  // found when they were read
    std::atomic<int64_t> failed_reads = 0;
    std::atomic<int64_t> written_blocks = 0;
    std::atomic<int64_t> failed_writes = 0;
    std::atomic<int64_t> removed_blocks = 0;
    std::atomic<int64_t> bad_records = 0;      // removed by Recover or after damage
    std::atomic<int64_t> foreign_records = 0;  // of other fingerprints, removed
    std::atomic<int64_t> cleared = 0;          // times that damage left nothing to keep
    std::atomic<int64_t> reopened = 0;
  };

  void Say(DiskEventSeverity severity, std::string_view text) const {
    if (options_.on_event) options_.on_event(severity, text);
  }

  enum class Resumed { kTried, kStopped };

  internal::DatabaseSettings Settings() const;
  absl::StatusOr<std::unique_ptr<BlockDatabase>> OpenDatabase();
  absl::StatusOr<std::unique_ptr<BlockDatabase>> StartEmpty(std::string_view why);
  void StartCleaning();
  void Clean();
  void Count(const absl::Status& read);
  absl::Status MakeRoom(BlockDatabase& database, int64_t bytes);
  absl::Status TryToWrite(BlockDatabase& database);
  Resumed Resume();
  absl::Status Reopen();
  absl::Status RemoveSuspects(BlockDatabase& database);
  absl::Status RemoveRecords(BlockDatabase& database, std::span<const std::string> raw_keys);
  absl::Status RemoveBadRecords(BlockDatabase& database, std::span<const std::string> raw_keys);

  const DiskTierOptions options_;
  const internal::SpacePlan plan_;
  const std::unique_ptr<CacheDirectory> directory_;
  const std::unique_ptr<internal::NamedRecords> names_;
  internal::DiskSpace space_;
  internal::SharedDatabase database_{nullptr};
  bool suspect_ = false;  // a compaction met damage: blocks are to be read through before the next one
  Counters counters_;

  std::atomic<bool> stopping_ = false;
  std::thread cleaner_;
};

// --- opening and closing

DiskTier::Impl::~Impl() {
  stopping_ = true;
  WaitForCleaning();
}

absl::Status DiskTier::Impl::Start() {
  absl::StatusOr<std::unique_ptr<BlockDatabase>> database =
      directory_->marker_damaged() ? StartEmpty("its marker file is damaged") : OpenDatabase();
  if (!database.ok()) return database.status();
  const bool foreign = internal::HasForeignRecords(**database, options_.fingerprint);
  database_.Replace([&] { return *std::move(database); });
  if (foreign) cleaner_ = std::thread([this] { Clean(); });
  return absl::OkStatus();
}

internal::DatabaseSettings DiskTier::Impl::Settings() const {
  return {.path = directory_->blocks(),
          .env = &EnvOf(options_.env),
          .max_background_jobs = options_.background_threads,
          .write_buffer_bytes = plan_.write_buffer_bytes,
          .blob_file_bytes = plan_.blob_file_bytes,
          .on_error = [this](std::string_view line) {
            Say(DiskEventSeverity::kWarning, fmt::format("disk tier: {}", line));
          }};
}

absl::StatusOr<std::unique_ptr<BlockDatabase>> DiskTier::Impl::OpenDatabase() {
  BlockDatabase::Opened opened = BlockDatabase::Open(Settings(), BlockDatabase::Access::kReadWrite);
  if (opened.status.ok()) return std::move(opened.database);
  if (internal::IsDamage(opened.status)) return StartEmpty(opened.status.ToString());
  return internal::FromRocks(opened.status, fmt::format("cannot open the disk tier in {}", directory_->path()));
}

absl::StatusOr<std::unique_ptr<BlockDatabase>> DiskTier::Impl::StartEmpty(std::string_view why) {
  Say(DiskEventSeverity::kError,
      fmt::format("the disk tier in {} is damaged and starts empty: {}", directory_->path(), why));
  counters_.cleared.fetch_add(1);
  if (absl::Status status = directory_->Clear(directory_->blocks()); !status.ok()) return status;
  if (absl::Status status = directory_->WriteMarker(); !status.ok()) return status;
  BlockDatabase::Opened opened = BlockDatabase::Open(Settings(), BlockDatabase::Access::kReadWrite);
  if (opened.status.ok()) return std::move(opened.database);
  return internal::FromRocks(opened.status, fmt::format("cannot start a disk tier in {}", directory_->path()));
}

void DiskTier::Impl::Clean() {
  const internal::SharedDatabase::Use use = database_.Take();
  if (!use) return;
  const absl::StatusOr<int64_t> removed = internal::RemoveForeignRecords(*use, options_.fingerprint, stopping_);
  if (!removed.ok()) return Say(DiskEventSeverity::kWarning, std::string(removed.status().message()));
  counters_.foreign_records.fetch_add(*removed);
  Say(DiskEventSeverity::kInfo, fmt::format("removed {} blocks of other models or layouts from disk", *removed));
}

void DiskTier::Impl::WaitForCleaning() {
  if (cleaner_.joinable()) cleaner_.join();
}

// --- reading

std::vector<absl::Status> DiskTier::Impl::Read(std::span<const BlockPlace> places,
                                               absl::FunctionRef<void(size_t index, const BlockBytes&)> sink) {
  std::vector<absl::Status> statuses(places.size());
  const internal::SharedDatabase::Use use = database_.Take();
  for (size_t i = 0; i < places.size(); ++i) {
    statuses[i] = use ? ReadOne(*use, places[i].key, [&](const BlockBytes& bytes) { sink(i, bytes); }) : Closed();
    Count(statuses[i]);
  }
  return statuses;
}

absl::Status DiskTier::Impl::ReadOne(BlockDatabase& database, const PrefixKey& key,
                                     absl::FunctionRef<void(const BlockBytes&)> sink) {
  rocksdb::PinnableSlice stored;
  const absl::StatusOr<BlockBytes> bytes =
      internal::GetBlock(database, options_.fingerprint, key, options_.block_bytes, stored);
  if (bytes.ok()) sink(*bytes);
  return bytes.status();
}

void DiskTier::Impl::Count(const absl::Status& read) {
  switch (read.code()) {
    case absl::StatusCode::kOk:
      counters_.read_blocks.fetch_add(1, std::memory_order_relaxed);
      return;
    case absl::StatusCode::kNotFound:
      counters_.missing_blocks.fetch_add(1, std::memory_order_relaxed);
      return;
    case absl::StatusCode::kDataLoss:
      counters_.damaged_blocks.fetch_add(1, std::memory_order_relaxed);
      return;
    default:
      counters_.failed_reads.fetch_add(1, std::memory_order_relaxed);
  }
}

absl::StatusOr<VerifyReport> DiskTier::Impl::Verify(absl::FunctionRef<void(const BadBlock&)> bad) {
  const internal::SharedDatabase::Use use = database_.Take();
  if (!use) return Closed();
  return internal::VerifyBlocks(*use, options_.fingerprint,
                                [&](std::string_view, const BadBlock& block) { bad(block); });
}

absl::Status DiskTier::Impl::Recover(absl::FunctionRef<bool(const PrefixKey&, const BlockMeta&)> visit) {
  const internal::SharedDatabase::Use use = database_.Take();
  if (!use) return Closed();
  std::vector<std::string> bad;
  internal::RecordScan scan(*use, {.fingerprint = options_.fingerprint, .block_bytes = options_.block_bytes});
  for (; scan.Valid(); scan.Next()) {
    if (!scan.status().ok()) {
      bad.emplace_back(scan.raw_key());
    } else if (!visit(scan.key()->block, scan.record().meta)) {
      break;
    }
  }
  if (absl::Status status = scan.io_status(); !status.ok()) return status;
  return RemoveBadRecords(*use, bad);
}

// --- writing

class DiskTier::Impl::Writer final : public TierWriter {
 public:
  // The bytes are gathered in one buffer, which is not to be moved while it grows.
  explicit Writer(Impl& tier) : tier_(tier), batch_(static_cast<size_t>(tier.plan_.batch_bytes)) {}

  void Add(const BlockPlace& place, const BlockMeta& meta, const BlockBytes& bytes) override {
    const internal::SharedDatabase::Use use = tier_.database_.Take();
    if (!use) {
      status_ = Closed();
      return;
    }
    ++blocks_;
    AddBytes(*use, place.key, bytes);
    AddRecord(*use, place.key, {meta, bytes.checksum, static_cast<uint32_t>(bytes.bytes.size())});
  }

  absl::Status Commit() override {
    if (status_.ok()) status_ = tier_.Write(batch_, std::exchange(blocks_, 0));
    batch_.Clear();
    return std::exchange(status_, absl::OkStatus());
  }

 private:
  void AddBytes(BlockDatabase& database, const PrefixKey& block, const BlockBytes& bytes) {
    const std::string key = internal::EncodeBytesKey(tier_.options_.fingerprint, block);
    const std::string trailer = internal::EncodeTrailer(bytes);
    const rocksdb::Slice key_part(key);
    const rocksdb::Slice parts[] = {{reinterpret_cast<const char*>(bytes.bytes.data()), bytes.bytes.size()}, trailer};
    Note(batch_.Put(database.bytes(), rocksdb::SliceParts(&key_part, 1), rocksdb::SliceParts(parts, 2)));
  }

  void AddRecord(BlockDatabase& database, const PrefixKey& block, const internal::BlockRecord& record) {
    const std::string key = internal::EncodeRecordKey({tier_.options_.fingerprint, record.meta.depth, block});
    Note(batch_.Put(database.records(), key, internal::EncodeRecord(block, record)));
  }

  void Note(const rocksdb::Status& status) {
    if (!status.ok()) status_ = internal::FromRocks(status, "cannot gather blocks for the disk tier");
  }

  Impl& tier_;
  rocksdb::WriteBatch batch_;
  int64_t blocks_ = 0;
  absl::Status status_;  // of what was added so far
};

absl::Status DiskTier::Impl::Write(rocksdb::WriteBatch& batch, int64_t blocks) {
  if (blocks == 0) return absl::OkStatus();
  const internal::SharedDatabase::Use use = database_.Take();
  if (!use) return Closed();
  absl::Status status = MakeRoom(*use, static_cast<int64_t>(batch.GetDataSize()));
  if (status.ok()) status = internal::FromRocks(use->db().Write(rocksdb::WriteOptions(), &batch), kWriting);
  (status.ok() ? counters_.written_blocks : counters_.failed_writes).fetch_add(blocks);
  return status;
}

// Damage that a compaction meets lies in some block's bytes, and stops RocksDB for good: it takes a probe to find the
// block and go on without it.
absl::Status DiskTier::Impl::MakeRoom(BlockDatabase& database, int64_t bytes) {
  absl::Status status = space_.MakeRoom(database, bytes);
  if (status.code() != absl::StatusCode::kDataLoss && status.code() != absl::StatusCode::kNotFound) return status;
  suspect_ = true;
  return absl::UnavailableError(status.message());
}

absl::Status DiskTier::Impl::Remove(std::span<const BlockPlace> places) {
  std::vector<std::string> raw_keys;
  raw_keys.reserve(places.size());
  for (const BlockPlace& place : places) {
    raw_keys.push_back(internal::EncodeRecordKey({options_.fingerprint, place.depth, place.key}));
  }
  const internal::SharedDatabase::Use use = database_.Take();
  if (!use) return Closed();
  absl::Status status = RemoveRecords(*use, raw_keys);
  if (status.ok()) counters_.removed_blocks.fetch_add(static_cast<int64_t>(places.size()));
  return status;
}

// Removes records and the bytes they belong to.
absl::Status DiskTier::Impl::RemoveRecords(BlockDatabase& database, std::span<const std::string> raw_keys) {
  rocksdb::WriteBatch batch;
  for (const std::string& raw_key : raw_keys) {
    const std::optional<internal::RecordKey> key = internal::DecodeRecordKey(raw_key);
    rocksdb::Status added = batch.Delete(database.records(), raw_key);
    if (added.ok() && key.has_value()) {
      added = batch.Delete(database.bytes(), internal::EncodeBytesKey(key->fingerprint, key->block));
    }
    if (!added.ok()) return internal::FromRocks(added, kRemoving);
  }
  space_.NoteGarbage();
  return internal::FromRocks(database.db().Write(rocksdb::WriteOptions(), &batch), kRemoving);
}

absl::Status DiskTier::Impl::RemoveBadRecords(BlockDatabase& database, std::span<const std::string> raw_keys) {
  if (raw_keys.empty()) return absl::OkStatus();
  counters_.bad_records.fetch_add(static_cast<int64_t>(raw_keys.size()));
  Say(DiskEventSeverity::kWarning,
      fmt::format("removed {} blocks from disk that were damaged, of another size or without the one before them",
                  raw_keys.size()));
  return RemoveRecords(database, raw_keys);
}

absl::Status DiskTier::Impl::Sync() {
  const internal::SharedDatabase::Use use = database_.Take();
  if (!use) return Closed();
  return internal::FromRocks(use->db().SyncWAL(), fmt::format("cannot sync {}", directory_->path()));
}

// --- after a failure

absl::Status DiskTier::Impl::Probe() {
  if (absl::Status status = names_->Probe(); !status.ok()) return status;
  if (Resume() == Resumed::kStopped) {
    if (absl::Status status = Reopen(); !status.ok()) return status;
  }
  const internal::SharedDatabase::Use use = database_.Take();
  if (!use) return Closed();
  if (absl::Status status = RemoveSuspects(*use); !status.ok()) return status;
  return TryToWrite(*use);
}

// Errors of the device can be gone at the next try; those that RocksDB calls fatal last as long as it is open.
DiskTier::Impl::Resumed DiskTier::Impl::Resume() {
  const internal::SharedDatabase::Use use = database_.Take();
  if (!use) return Resumed::kStopped;
  const rocksdb::Status status = use->db().Resume();
  const bool stopped = status.severity() >= rocksdb::Status::Severity::kFatalError || status.IsCorruption();
  return stopped ? Resumed::kStopped : Resumed::kTried;
}

absl::Status DiskTier::Impl::Reopen() {
  absl::Status status;
  database_.Replace([&]() -> std::unique_ptr<BlockDatabase> {
    absl::StatusOr<std::unique_ptr<BlockDatabase>> opened = OpenDatabase();
    status = opened.status();
    return opened.ok() ? *std::move(opened) : nullptr;
  });
  if (!status.ok()) return status;
  counters_.reopened.fetch_add(1);
  Say(DiskEventSeverity::kInfo, fmt::format("opened the disk tier in {} again", directory_->path()));
  return absl::OkStatus();
}

absl::Status DiskTier::Impl::RemoveSuspects(BlockDatabase& database) {
  if (!suspect_) return absl::OkStatus();
  std::vector<std::string> bad;
  const absl::StatusOr<VerifyReport> report = internal::VerifyBlocks(
      database, options_.fingerprint, [&](std::string_view raw_key, const BadBlock&) { bad.emplace_back(raw_key); });
  if (!report.ok()) return report.status();
  if (absl::Status status = RemoveBadRecords(database, bad); !status.ok()) return status;
  suspect_ = false;
  return absl::OkStatus();
}

// Writes what takes a page of the device, synced, and takes it back.
absl::Status DiskTier::Impl::TryToWrite(BlockDatabase& database) {
  if (absl::Status status = MakeRoom(database, kProbeBytes); !status.ok()) return status;
  rocksdb::WriteOptions synced;
  synced.sync = true;
  rocksdb::DB& db = database.db();
  rocksdb::Status status = db.Put(synced, kProbeKey, std::string(kProbeBytes, '\0'));
  if (status.ok()) status = db.Delete(synced, kProbeKey);
  return internal::FromRocks(status, kWriting);
}

void DiskTier::Impl::VisitCounters(absl::FunctionRef<void(std::string_view name, int64_t value)> visit) const {
  visit("read_blocks", counters_.read_blocks.load());
  visit("missing_blocks", counters_.missing_blocks.load());
  visit("damaged_blocks", counters_.damaged_blocks.load());
  visit("failed_reads", counters_.failed_reads.load());
  visit("written_blocks", counters_.written_blocks.load());
  visit("failed_writes", counters_.failed_writes.load());
  visit("removed_blocks", counters_.removed_blocks.load());
  visit("bad_records", counters_.bad_records.load());
  visit("foreign_records", counters_.foreign_records.load());
  visit("cleared", counters_.cleared.load());
  visit("reopened", counters_.reopened.load());
  visit("collections", space_.collections());
  visit("rewritten_bytes", space_.rewritten_bytes());
}

// --- the public face

absl::StatusOr<std::unique_ptr<DiskTier>> DiskTier::Open(const DiskTierOptions& options) {
  if (absl::Status status = Validate(options); !status.ok()) return status;
  const absl::StatusOr<internal::SpacePlan> plan = internal::PlanSpace(options.capacity_bytes, options.block_bytes);
  if (!plan.ok()) return plan.status();
  rocksdb::Env& env = EnvOf(options.env);
  absl::StatusOr<std::unique_ptr<CacheDirectory>> directory = CacheDirectory::Claim(env, options.directory);
  if (!directory.ok()) return directory.status();
  auto names = internal::NamedRecords::Open(**directory, env, [&](std::string_view line) {
    if (options.on_event) options.on_event(DiskEventSeverity::kError, line);
  });
  if (!names.ok()) return names.status();
  auto impl = std::make_unique<Impl>(options, *plan, *std::move(directory), *std::move(names));
  if (absl::Status status = impl->Start(); !status.ok()) return status;
  return std::unique_ptr<DiskTier>(new DiskTier(std::move(impl)));
}

absl::StatusOr<VerifyReport> DiskTier::VerifyDirectory(const std::string& directory,
                                                       absl::FunctionRef<void(const BadBlock&)> bad,
                                                       rocksdb::Env* env) {
  if (absl::Status status = CacheDirectory::CheckExists(EnvOf(env), directory); !status.ok()) return status;
  const auto claimed = CacheDirectory::Claim(EnvOf(env), directory);
  if (!claimed.ok()) return claimed.status();
  const internal::DatabaseSettings settings{.path = (*claimed)->blocks(), .env = &EnvOf(env), .on_error = nullptr};
  const BlockDatabase::Opened opened = BlockDatabase::Open(settings, BlockDatabase::Access::kReadOnly);
  if (!opened.status.ok()) return internal::FromRocks(opened.status, fmt::format("cannot open {}", directory));
  return internal::VerifyBlocks(*opened.database, std::nullopt,
                                [&](std::string_view, const BadBlock& block) { bad(block); });
}

DiskTier::DiskTier(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DiskTier::~DiskTier() = default;

int64_t DiskTier::capacity_blocks() const { return impl_->plan().capacity_blocks; }
int64_t DiskTier::batch_blocks() const { return impl_->plan().batch_blocks; }

std::vector<absl::Status> DiskTier::Read(std::span<const BlockPlace> places,
                                         absl::FunctionRef<void(size_t index, const BlockBytes&)> sink) {
  return impl_->Read(places, sink);
}

std::unique_ptr<TierWriter> DiskTier::NewWriter() { return std::make_unique<Impl::Writer>(*impl_); }

absl::Status DiskTier::Remove(std::span<const BlockPlace> places) { return impl_->Remove(places); }

absl::Status DiskTier::Recover(absl::FunctionRef<bool(const PrefixKey&, const BlockMeta&)> visit) {
  return impl_->Recover(visit);
}

absl::Status DiskTier::Sync() { return impl_->Sync(); }
absl::Status DiskTier::Probe() { return impl_->Probe(); }
int64_t DiskTier::used_bytes() const { return impl_->directory().FileSizes().all; }

void DiskTier::VisitCounters(absl::FunctionRef<void(std::string_view name, int64_t value)> visit) const {
  impl_->VisitCounters(visit);
}

absl::Status DiskTier::PutNamed(std::string_view id, std::string_view bytes) { return impl_->names().Put(id, bytes); }
absl::Status DiskTier::RemoveNamed(std::string_view id) { return impl_->names().Remove(id); }

absl::Status DiskTier::ForEachNamed(absl::FunctionRef<void(std::string_view id, std::string_view bytes)> visit) const {
  return impl_->names().ForEach(visit);
}

absl::StatusOr<VerifyReport> DiskTier::Verify(absl::FunctionRef<void(const BadBlock&)> bad) {
  return impl_->Verify(bad);
}

void DiskTier::WaitForCleaning() { impl_->WaitForCleaning(); }

}  // namespace headstart
