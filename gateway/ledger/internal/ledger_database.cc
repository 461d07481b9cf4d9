#include "gateway/ledger/internal/ledger_database.h"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <utility>

#include "fmt/format.h"
#include "gateway/ledger/internal/totals_operator.h"
#include "rocksdb/experimental.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/listener.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"

namespace headstart::ledger_internal {
namespace {

constexpr int64_t kFlushBytes = 16 << 20;  // of batches, some 30,000 entries: what a start has to read again at most
constexpr double kBloomBits = 10;          // an id that was never used is not looked for on disk, 99 times in 100
constexpr uint64_t kManifestBytes = 1 << 20;

// Passes on what says that something failed, without the dumps that follow on further lines; writes no log file.
class ErrorLog final : public rocksdb::Logger {
 public:
  explicit ErrorLog(std::function<void(const std::string&)> on_error)
      : Logger(rocksdb::InfoLogLevel::ERROR_LEVEL), on_error_(std::move(on_error)) {}

  void Begin() { begun_ = true; }

  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    std::array<char, 512> line;  // a line of a log: what is longer is cut
    if (!begun_ || !on_error_ || std::vsnprintf(line.data(), line.size(), format, arguments) < 0) return;
    const std::string_view text(line.data());
    on_error_(fmt::format("the ledger's database: {}", text.substr(0, text.find('\n'))));
  }

 private:
  const std::function<void(const std::string&)> on_error_;
  std::atomic<bool> begun_ = false;
};

// When to try again is the ledger's to decide.
class NoRecovery final : public rocksdb::EventListener {
 public:
  explicit NoRecovery(std::shared_ptr<std::atomic<bool>> failed) : failed_(std::move(failed)) {}

  void OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status*) override { *failed_ = true; }
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status, bool* automatic) override {
    *automatic = false;
  }

 private:
  const std::shared_ptr<std::atomic<bool>> failed_;
};

rocksdb::ColumnFamilyOptions FamilyOptions() {
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(kBloomBits));
  table.format_version = 5;
  rocksdb::ColumnFamilyOptions options;
  options.write_buffer_size = size_t{16} << 30;  // never full by itself: see BeginFlushWhenFull
  options.arena_block_size = 256 << 10;
  options.compression = rocksdb::kNoCompression;  // a small part of the disk that the cache takes
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

rocksdb::ColumnFamilyOptions SumOptions() {
  rocksdb::ColumnFamilyOptions options = FamilyOptions();
  options.merge_operator = TotalsOperator();
  // The sums of a busy hour are many parts of few keys; reading one adds up no more parts than this.
  options.max_successive_merges = 64;
  return options;
}

rocksdb::DBOptions DatabaseOptions(rocksdb::Env& env, std::shared_ptr<std::atomic<bool>> failed,
                                   std::shared_ptr<ErrorLog> log) {
  rocksdb::DBOptions options;
  options.env = &env;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.info_log = std::move(log);
  options.info_log_level = rocksdb::InfoLogLevel::ERROR_LEVEL;
  options.listeners = {std::make_shared<NoRecovery>(std::move(failed))};
  options.max_bgerror_resume_count = 0;
  options.allow_fallocate = false;
  options.max_manifest_file_size = kManifestBytes;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  return options;
}

}  // namespace

absl::StatusOr<std::unique_ptr<LedgerDatabase>> LedgerDatabase::Open(rocksdb::Env& env, const std::string& path,
                                                                     IdentifyFile identify,
                                                                     std::function<void(const std::string&)> on_error) {
  const std::vector<rocksdb::ColumnFamilyDescriptor> families = {{rocksdb::kDefaultColumnFamilyName, FamilyOptions()},
                                                                 {"records", FamilyOptions()},
                                                                 {"ids", FamilyOptions()},
                                                                 {"hours", SumOptions()}};
  std::unique_ptr<LedgerDatabase> opened(new LedgerDatabase(path, std::move(identify)));
  // RocksDB would make it too, and call it an error that it was not there.
  env.CreateDirIfMissing(path).PermitUncheckedError();
  const auto log = std::make_shared<ErrorLog>(std::move(on_error));
  rocksdb::DB* db = nullptr;
  const auto status =
      rocksdb::DB::Open(DatabaseOptions(env, opened->failed_, log), path, families, &opened->families_, &db);
  opened->db_.reset(db);
  if (!status.ok()) return FromRocks(status, fmt::format("cannot open the ledger in {}", path));
  log->Begin();
  opened->identity_ = opened->identify_(opened->lock_path());
  if (absl::Status there = opened->CheckInPlace(); !there.ok()) return there;
  return opened;
}

LedgerDatabase::~LedgerDatabase() {
  if (db_ == nullptr) return;
  for (rocksdb::ColumnFamilyHandle* family : families_) db_->DestroyColumnFamilyHandle(family).PermitUncheckedError();
  db_->Close().PermitUncheckedError();
}

absl::StatusOr<std::string> LedgerDatabase::Get(rocksdb::ColumnFamilyHandle* family, std::string_view key) {
  std::string value;
  const auto status = db_->Get(rocksdb::ReadOptions(), family, ToSlice(key), &value);
  if (!status.ok()) return FromRocks(status, "cannot read the ledger");
  return value;
}

absl::Status LedgerDatabase::BeginFlushWhenFull() {
  if (*failed_) return absl::UnavailableError("cannot write the ledger: work in the background failed");
  if (unflushed_bytes_ < kFlushBytes) return absl::OkStatus();
  rocksdb::FlushOptions options;
  options.wait = false;
  unflushed_bytes_ = 0;
  return FromRocks(db_->Flush(options, families_), "cannot write the ledger");
}

absl::Status LedgerDatabase::Write(rocksdb::WriteBatch& batch) {
  if (absl::Status begun = BeginFlushWhenFull(); !begun.ok()) return begun;
  rocksdb::WriteOptions options;
  options.sync = true;
  unflushed_bytes_ += static_cast<int64_t>(batch.GetDataSize());
  if (const auto status = db_->Write(options, &batch); !status.ok())
    return FromRocks(status, "cannot write the ledger");
  return CheckInPlace();
}

absl::Status LedgerDatabase::CheckInPlace() const {
  if (identity_ && identify_(lock_path()) == identity_) return absl::OkStatus();
  return absl::UnavailableError(fmt::format(
      "the files in {} were removed, moved or replaced under the running server; records go on there as soon as the "
      "folder can be opened or made again",
      path_));
}

// Not by deleting files: one that holds the removal of an entry might go before the one that holds the entry.
void LedgerDatabase::Reclaim(std::string_view records_end, std::string_view hours_end) {
  const rocksdb::Slice records_limit = ToSlice(records_end);
  const rocksdb::Slice hours_limit = ToSlice(hours_end);
  rocksdb::experimental::SuggestCompactRange(db_.get(), records(), nullptr, &records_limit).PermitUncheckedError();
  rocksdb::experimental::SuggestCompactRange(db_.get(), hours(), nullptr, &hours_limit).PermitUncheckedError();
}

}  // namespace headstart::ledger_internal
