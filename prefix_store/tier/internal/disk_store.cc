#include "prefix_store/tier/internal/disk_store.h"

#include <utility>

#include "fmt/format.h"
#include "prefix_store/tier/internal/foreign_records.h"
#include "prefix_store/tier/internal/record_scan.h"
#include "prefix_store/tier/internal/rocks_status.h"
#include "prefix_store/tier/internal/verify_blocks.h"
#include "rocksdb/env.h"
#include "rocksdb/slice.h"

namespace headstart::internal {

DiskStore::DiskStore(const DiskTierOptions& options, const SpacePlan& plan, std::unique_ptr<CacheDirectory> directory,
                     std::unique_ptr<NamedRecords> names)
    : options_(options),
      plan_(plan),
      directory_(std::move(directory)),
      names_(std::move(names)),
      space_(plan, *directory_) {}

DiskStore::~DiskStore() {
  stopping_ = true;
  WaitForCleaning();
}

absl::Status DiskStore::Start() {
  MutexLock lock(mutex_);
  failure_ =
      database_.Replace(absl::UnavailableError("the disk tier is being opened"), [&] { return OpenAsFarAsPossible(); });
  if (!failure_.ok()) return directory_->is_new() ? failure_ : absl::OkStatus();
  if (FindForeign()) cleaner_ = std::thread([this] { Clean(); });
  return absl::OkStatus();
}

// For writing, else for reading, else not at all.
SharedDatabase::Replacement DiskStore::OpenAsFarAsPossible() {
  if (absl::Status status = directory_->Confirm(); !status.ok()) return {status, nullptr};
  absl::StatusOr<std::unique_ptr<BlockDatabase>> opened =
      directory_->marker_damaged() ? StartEmpty("its marker file is damaged") : OpenDatabase();
  if (opened.ok()) return {absl::OkStatus(), *std::move(opened)};
  if (directory_->marker_damaged()) return {opened.status(), nullptr};
  return {opened.status(), BlockDatabase::Open(Settings(), BlockDatabase::Access::kReadOnly).database};
}

DatabaseSettings DiskStore::Settings() const {
  return {.path = directory_->blocks(),
          .env = options_.env,
          .max_background_jobs = options_.background_threads,
          .write_buffer_bytes = plan_.write_buffer_bytes,
          .blob_file_bytes = plan_.blob_file_bytes,
          .on_error = [this](std::string_view line) {
            Say(DiskEventSeverity::kWarning, fmt::format("disk tier: {}", line));
          }};
}

absl::StatusOr<std::unique_ptr<BlockDatabase>> DiskStore::OpenDatabase() {
  if (!directory_->HasDatabase(directory_->blocks())) {
    if (absl::Status status = directory_->Clear(directory_->blocks()); !status.ok()) return status;
  }
  BlockDatabase::Opened opened = BlockDatabase::Open(Settings(), BlockDatabase::Access::kReadWrite);
  if (opened.status.ok()) return std::move(opened.database);
  if (IsDamage(opened.status)) return StartEmpty(opened.status.ToString());
  return FromRocks(opened.status, fmt::format("cannot open the disk tier in {}", directory_->path()));
}

absl::StatusOr<std::unique_ptr<BlockDatabase>> DiskStore::StartEmpty(std::string_view why) {
  Say(DiskEventSeverity::kError,
      fmt::format("the disk tier in {} is damaged and starts empty: {}", directory_->path(), why));
  counters_.started_empty.fetch_add(1);
  if (absl::Status status = directory_->Clear(directory_->blocks()); !status.ok()) return status;
  if (absl::Status status = directory_->WriteMarker(); !status.ok()) return status;
  BlockDatabase::Opened opened = BlockDatabase::Open(Settings(), BlockDatabase::Access::kReadWrite);
  if (opened.status.ok()) return std::move(opened.database);
  return FromRocks(opened.status, fmt::format("cannot start a disk tier in {}", directory_->path()));
}

// Whether there are any; true once at most.
bool DiskStore::FindForeign() {
  if (std::exchange(looked_for_foreign_, true)) return false;
  const auto use = database_.Take();
  return use.ok() && HasForeignRecords(**use, options_.fingerprint);
}

void DiskStore::Clean() {
  MutexLock lock(mutex_);
  CleanNow();
}

void DiskStore::CleanNow() {
  absl::StatusOr<int64_t> removed = 0;
  Change([&](BlockDatabase& database) {
    removed = RemoveForeignRecords(database, options_.fingerprint, stopping_);
    return removed.status();
  }).IgnoreError();  // it is in `removed`
  if (!removed.ok()) return Say(DiskEventSeverity::kWarning, std::string(removed.status().message()));
  counters_.foreign_records.fetch_add(*removed);
  Say(DiskEventSeverity::kInfo, fmt::format("removed {} blocks of other models or layouts from disk", *removed));
}

void DiskStore::WaitForCleaning() {
  if (cleaner_.joinable()) cleaner_.join();
}

// --- reading

std::vector<absl::Status> DiskStore::Read(std::span<const BlockPlace> places,
                                          absl::FunctionRef<void(size_t index, const BlockBytes&)> sink) {
  std::vector<absl::Status> statuses(places.size());
  const auto use = database_.Take();
  for (size_t i = 0; i < places.size(); ++i) {
    statuses[i] = use.status();
    if (use.ok()) statuses[i] = ReadOne(**use, places[i].key, [&](const BlockBytes& bytes) { sink(i, bytes); });
    CountRead(statuses[i]);
  }
  return statuses;
}

absl::Status DiskStore::ReadOne(BlockDatabase& database, const PrefixKey& key,
                                absl::FunctionRef<void(const BlockBytes&)> sink) {
  rocksdb::PinnableSlice stored;
  const absl::StatusOr<BlockBytes> bytes =
      GetBlock(database, options_.fingerprint, key, options_.block_bytes, Checksums::kOwn, stored);
  if (bytes.ok()) sink(*bytes);
  return bytes.status();
}

void DiskStore::CountRead(const absl::Status& read) {
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

absl::StatusOr<VerifyReport> DiskStore::Verify(absl::FunctionRef<void(std::string_view raw_key, const BadBlock&)> bad) {
  const auto use = database_.Take();
  if (!use.ok()) return use.status();
  return VerifyBlocks(**use, options_.fingerprint, bad);
}

absl::Status DiskStore::Recover(absl::FunctionRef<bool(const PrefixKey&, const BlockMeta&)> visit) {
  std::vector<std::string> bad;
  if (absl::Status status = Scan(visit, bad); !status.ok()) return status;
  MutexLock lock(mutex_);
  if (!failure_.ok()) return absl::OkStatus();  // they are found again by whoever can remove them
  return RemoveBadRecords(bad);
}

absl::Status DiskStore::Scan(absl::FunctionRef<bool(const PrefixKey&, const BlockMeta&)> visit,
                             std::vector<std::string>& bad) {
  const auto use = database_.Take();
  if (!use.ok()) return use.status();
  RecordScan scan(**use, {.fingerprint = options_.fingerprint, .block_bytes = options_.block_bytes});
  for (; scan.Valid(); scan.Next()) {
    if (!scan.status().ok()) {
      bad.emplace_back(scan.raw_key());
    } else if (!visit(scan.key()->block, scan.record().meta)) {
      break;
    }
  }
  return scan.io_status();
}

void DiskStore::VisitCounters(absl::FunctionRef<void(std::string_view name, int64_t value)> visit) const {
  visit("read_blocks", counters_.read_blocks.load());
  visit("missing_blocks", counters_.missing_blocks.load());
  visit("damaged_blocks", counters_.damaged_blocks.load());
  visit("failed_reads", counters_.failed_reads.load());
  visit("written_blocks", counters_.written_blocks.load());
  visit("failed_writes", counters_.failed_writes.load());
  visit("removed_blocks", counters_.removed_blocks.load());
  visit("bad_records", counters_.bad_records.load());
  visit("foreign_records", counters_.foreign_records.load());
  visit("started_empty", counters_.started_empty.load());
  visit("cleared", counters_.cleared.load());
  visit("reopened", counters_.reopened.load());
  visit("collections", space_.collections());
  visit("rewritten_bytes", space_.rewritten_bytes());
}

}  // namespace headstart::internal
