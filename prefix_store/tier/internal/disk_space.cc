#include "prefix_store/tier/internal/disk_space.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "prefix_store/tier/internal/rocks_status.h"
#include "rocksdb/metadata.h"
#include "rocksdb/options.h"

namespace headstart::internal {
namespace {

constexpr std::string_view kMerging = "cannot compact the disk tier";

// Left free on the device: what opening the database and some thousand removals take.
constexpr int64_t kLeftFree = 512 << 10;

rocksdb::CompactRangeOptions MergeOptions() {
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  options.blob_garbage_collection_policy = rocksdb::BlobGarbageCollectionPolicy::kDisable;
  return options;
}

absl::Status Compact(BlockDatabase& database, rocksdb::ColumnFamilyHandle* family,
                     const rocksdb::CompactRangeOptions& options) {
  const absl::Status status = FromRocks(database.db().CompactRange(options, family, nullptr, nullptr), kMerging);
  database.SettleFiles();
  return status;
}

}  // namespace

absl::StatusOr<bool> DiskSpace::MakeRoom(BlockDatabase& database, int64_t bytes) {
  if (Fits(bytes)) return true;
  if (!DeviceTakes(directory_.FileSizes().logs)) return false;
  if (absl::Status status = FromRocks(database.Flush(), "cannot flush the disk tier"); !status.ok()) return status;
  if (Fits(bytes)) return true;
  if (garbage_) {
    if (absl::Status status = Merge(database); !status.ok()) return status;
    garbage_ = false;
  }
  while (!Fits(bytes)) {
    const Choice choice = Oldest(database);
    if (choice.garbage_bytes == 0 || !DeviceTakes(choice.live_bytes)) return false;
    if (absl::Status status = Collect(database, choice); !status.ok()) return status;
  }
  return true;
}

bool DiskSpace::Fits(int64_t bytes) const {
  const CacheDirectory::Sizes sizes = directory_.FileSizes();
  return sizes.all + sizes.logs + 2 * bytes + plan_.collect_bytes <= plan_.capacity_bytes &&
         DeviceTakes(sizes.logs + 2 * bytes);
}

bool DiskSpace::DeviceTakes(int64_t bytes) const {
  const std::optional<int64_t> free = directory_.FreeBytes();
  return !free || bytes + kLeftFree <= *free;
}

absl::Status DiskSpace::Merge(BlockDatabase& database) {
  for (rocksdb::ColumnFamilyHandle* family : {database.bytes(), database.records()}) {
    if (absl::Status status = Compact(database, family, MergeOptions()); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// The oldest files down to the first whose garbage counts, and on as long as the live blocks in them fit into what is
// free. Files are numbered in the order in which they were written.
DiskSpace::Choice DiskSpace::Oldest(BlockDatabase& database) const {
  rocksdb::ColumnFamilyMetaData family;
  database.db().GetColumnFamilyMetaData(database.bytes(), &family);
  std::vector<rocksdb::BlobMetaData>& files = family.blob_files;
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.blob_file_number < b.blob_file_number; });
  const int64_t under_cap = std::max(plan_.capacity_bytes - directory_.FileSizes().all, plan_.collect_bytes);
  const int64_t room = std::min(under_cap, directory_.FreeBytes().value_or(under_cap) - kLeftFree);
  Choice choice;
  for (size_t i = 0; i < files.size(); ++i) {
    const int64_t garbage = static_cast<int64_t>(files[i].garbage_blob_bytes);
    const int64_t live = static_cast<int64_t>(files[i].total_blob_bytes) - garbage;
    if (choice.garbage_bytes > 0 && choice.live_bytes + live > room) break;
    choice.live_bytes += live;
    choice.garbage_bytes += garbage;
    // RocksDB takes the whole part of share × files: half a file more keeps rounding from losing one.
    choice.share = std::min(1.0, (static_cast<double>(i) + 1.5) / static_cast<double>(files.size()));
  }
  return choice;
}

absl::Status DiskSpace::Collect(BlockDatabase& database, const Choice& choice) {
  rocksdb::CompactRangeOptions options = MergeOptions();
  options.blob_garbage_collection_policy = rocksdb::BlobGarbageCollectionPolicy::kForce;
  options.blob_garbage_collection_age_cutoff = choice.share;
  collections_.fetch_add(1, std::memory_order_relaxed);
  rewritten_bytes_.fetch_add(choice.live_bytes, std::memory_order_relaxed);
  return Compact(database, database.bytes(), options);
}

}  // namespace headstart::internal
