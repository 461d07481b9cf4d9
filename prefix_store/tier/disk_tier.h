// DiskTier: blocks on disk, in RocksDB with the bytes in blob files, so that they outlive the process. The files are
// specified in docs/formats/disk.md; why they are so, in docs/decisions/0010-*.md.
//
// Thread-safety: as Tier says. PutNamed, RemoveNamed, ForEachNamed, Verify and the counters: any thread.
// Ownership: the tier has its directory for itself while it lives; `env` outlives the tier.
//
// What survives: a batch whose Commit returned OK survives the process, however it ends, at once; it survives the loss
// of power after the next Sync that returned OK. A named record survives both from the moment Put returned OK.
// Damage: whatever byte of whatever file is changed or missing, Open succeeds and no wrong byte is ever handed out: the
// cache is shorter, or empty, and counters say so. (But for the marker file missing: then nothing says that the
// directory is ours.) A directory that is in use, is not a cache's or was written by a newer program is refused with a
// sentence that says what to do, and nothing in it is touched. Errors: those of Tier. After UNAVAILABLE, or
// RESOURCE_EXHAUSTED for a full device, writes and Sync fail until Probe returns OK; reads work meanwhile, but for the
// moment in which Probe opens the database anew (UNAVAILABLE). When the tier's own cap or what the device has free
// refuses a batch (RESOURCE_EXHAUSTED too), the next one is tried as if nothing had happened, and removals work.
// A cache's directory on a device that is full or fails is opened as far as that goes: for reading, so that all but
// writes, removals and Sync work, or not at all, so that Recover fails as well; Probe goes on from there.
// Space: the files stay under capacity_bytes, if RocksDB's own bookkeeping stays within what it is given
// (space_plan.h), and leave on the device what flushing the log takes. The cap holds for whatever is written; within
// capacity_blocks() there is always room, if the device has it.
//
//   auto disk = DiskTier::Open({.directory = "/var/cache/headstart", .capacity_bytes = 64LL << 30,
//                               .block_bytes = 2359296, .fingerprint = fingerprint});
//   if (!disk.ok()) return disk.status();
//   (*disk)->Recover([&](const PrefixKey& key, const BlockMeta& meta) { return tree.Insert(key, meta); });

#ifndef HEADSTART_PREFIX_STORE_TIER_DISK_TIER_H_
#define HEADSTART_PREFIX_STORE_TIER_DISK_TIER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "prefix_store/tier/tier.h"
#include "prefix_store/types.h"

namespace rocksdb {
class Env;
}  // namespace rocksdb

namespace headstart {
namespace internal {
class DiskStore;
}  // namespace internal

enum class DiskEventSeverity : uint8_t { kInfo, kWarning, kError };

struct DiskTierOptions {
  // --- behaviour
  std::string directory;       // REQUIRED; created when its parent is there
  int64_t capacity_bytes = 0;  // REQUIRED: of all files together
  int64_t block_bytes = 0;     // REQUIRED
  Fingerprint fingerprint;     // records of others are deleted

  // One line for the log, from any of the tier's threads.
  std::function<void(DiskEventSeverity severity, std::string_view text)> on_event = nullptr;

  // --- performance
  int background_threads = 2;  // that RocksDB flushes and compacts on

  // --- for tests: the file system. Null: the system's own.
  rocksdb::Env* env = nullptr;
};

// A block that cannot be handed out.
struct BadBlock {
  PrefixKey key;
  uint32_t depth = 0;
  absl::Status status;  // what is wrong with it
};

struct VerifyReport {
  int64_t blocks = 0;  // all, the bad ones among them
  int64_t bytes = 0;   // read
  int64_t bad_blocks = 0;
  // Good ones whose prefix is not there in whole: it is still to be written, or went before them. They are found only
  // with it.
  int64_t orphan_blocks = 0;
};

class DiskTier final : public Tier {
 public:
  // INVALID_ARGUMENT for options that cannot work, FAILED_PRECONDITION for a directory that is in use, not a cache's or
  // newer; UNAVAILABLE and RESOURCE_EXHAUSTED when the device fails or is full and no cache was there before, or when
  // not even that can be told.
  static absl::StatusOr<std::unique_ptr<DiskTier>> Open(const DiskTierOptions& options);
  ~DiskTier() override;

  TierKind kind() const override { return TierKind::kDisk; }
  int64_t capacity_blocks() const override;
  int64_t batch_blocks() const override;
  std::vector<absl::Status> Read(std::span<const BlockPlace> places,
                                 absl::FunctionRef<void(size_t index, const BlockBytes&)> sink) override;
  std::unique_ptr<TierWriter> NewWriter() override;
  // Needs the places' keys and depths.
  absl::Status Remove(std::span<const BlockPlace> places) override;
  absl::Status Clear() override;
  // Removes and counts what is no good: damaged records, others than of block_bytes, those without their parent.
  absl::Status Recover(absl::FunctionRef<bool(const PrefixKey&, const BlockMeta&)> visit) override;
  absl::Status Sync() override;
  absl::Status Probe() override;
  int64_t used_bytes() const override;
  void VisitCounters(absl::FunctionRef<void(std::string_view name, int64_t value)> visit) const override;

  // Small records under names, whatever the fingerprint. Synced.
  absl::Status PutNamed(std::string_view id, std::string_view bytes);
  absl::Status RemoveNamed(std::string_view id);
  absl::Status ForEachNamed(absl::FunctionRef<void(std::string_view id, std::string_view bytes)> visit) const;

  // Reads every block of this fingerprint and calls `bad` with those that are no good; changes nothing.
  absl::StatusOr<VerifyReport> Verify(absl::FunctionRef<void(const BadBlock&)> bad);

  // The same for a store that no process has open, for blocks of every fingerprint and size.
  static absl::StatusOr<VerifyReport> VerifyDirectory(const std::string& directory,
                                                      absl::FunctionRef<void(const BadBlock&)> bad,
                                                      rocksdb::Env* env = nullptr);

  // Returns when the records of other fingerprints that Open found are gone, or cannot be removed now.
  void WaitForCleaning();

 private:
  explicit DiskTier(std::unique_ptr<internal::DiskStore> store);
  const std::unique_ptr<internal::DiskStore> store_;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_TIER_DISK_TIER_H_
