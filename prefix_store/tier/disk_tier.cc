#include "prefix_store/tier/disk_tier.h"

#include <limits>
#include <optional>
#include <utility>

#include "fmt/format.h"
#include "prefix_store/tier/internal/block_database.h"
#include "prefix_store/tier/internal/cache_directory.h"
#include "prefix_store/tier/internal/disk_store.h"
#include "prefix_store/tier/internal/named_records.h"
#include "prefix_store/tier/internal/rocks_status.h"
#include "prefix_store/tier/internal/space_plan.h"
#include "prefix_store/tier/internal/verify_blocks.h"
#include "rocksdb/env.h"

namespace headstart {
namespace {

using internal::BlockDatabase;
using internal::CacheDirectory;

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
  DiskTierOptions resolved = options;
  resolved.env = &env;
  auto store = std::make_unique<internal::DiskStore>(resolved, *plan, *std::move(directory), *std::move(names));
  if (absl::Status status = store->Start(); !status.ok()) return status;
  return std::unique_ptr<DiskTier>(new DiskTier(std::move(store)));
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

DiskTier::DiskTier(std::unique_ptr<internal::DiskStore> store) : store_(std::move(store)) {}
DiskTier::~DiskTier() = default;

int64_t DiskTier::capacity_blocks() const { return store_->plan().capacity_blocks; }
int64_t DiskTier::batch_blocks() const { return store_->plan().batch_blocks; }

std::vector<absl::Status> DiskTier::Read(std::span<const BlockPlace> places,
                                         absl::FunctionRef<void(size_t index, const BlockBytes&)> sink) {
  return store_->Read(places, sink);
}

std::unique_ptr<TierWriter> DiskTier::NewWriter() { return store_->NewWriter(); }

absl::Status DiskTier::Remove(std::span<const BlockPlace> places) { return store_->Remove(places); }

absl::Status DiskTier::Clear() { return store_->Clear(); }

absl::Status DiskTier::Recover(absl::FunctionRef<bool(const PrefixKey&, const BlockMeta&)> visit) {
  return store_->Recover(visit);
}

absl::Status DiskTier::Sync() { return store_->Sync(); }
absl::Status DiskTier::Probe() { return store_->Probe(); }
int64_t DiskTier::used_bytes() const { return store_->directory().FileSizes().all; }

void DiskTier::VisitCounters(absl::FunctionRef<void(std::string_view name, int64_t value)> visit) const {
  store_->VisitCounters(visit);
}

absl::Status DiskTier::PutNamed(std::string_view id, std::string_view bytes) { return store_->names().Put(id, bytes); }
absl::Status DiskTier::RemoveNamed(std::string_view id) { return store_->names().Remove(id); }

absl::Status DiskTier::ForEachNamed(absl::FunctionRef<void(std::string_view id, std::string_view bytes)> visit) const {
  return store_->names().ForEach(visit);
}

absl::StatusOr<VerifyReport> DiskTier::Verify(absl::FunctionRef<void(const BadBlock&)> bad) {
  return store_->Verify([&](std::string_view, const BadBlock& block) { bad(block); });
}

void DiskTier::WaitForCleaning() { store_->WaitForCleaning(); }

}  // namespace headstart
