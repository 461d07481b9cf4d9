// DiskSpace: keeps the files of the block database under their cap, and within what the device has room for. Before a
// batch is written it is asked for room; what it cannot make room for is refused.
//
// Room for a batch: its bytes go to the log now and to a blob file when the log is flushed, before the log goes; what
// is in the log already has the second half before it. In order of what they cost, room comes from
//   1. flushing, which lets the log go;
//   2. merging tables, which finds out what is garbage and deletes files that are nothing else;
//   3. rewriting the live blocks of the oldest blob files, as many at a time as the space that is left can take.
// None of them is begun that the device has no room for: a log that cannot be flushed, because it took the room that
// flushing needs, would hold a small device for good. A little room is always left: removals need it.
//
// Thread-safety: one thread at a time (the tier's writer).
// Ownership: the directory outlives it.

#ifndef HEADSTART_PREFIX_STORE_TIER_INTERNAL_DISK_SPACE_H_
#define HEADSTART_PREFIX_STORE_TIER_INTERNAL_DISK_SPACE_H_

#include <atomic>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "prefix_store/tier/internal/block_database.h"
#include "prefix_store/tier/internal/cache_directory.h"
#include "prefix_store/tier/internal/space_plan.h"

namespace headstart::internal {

class DiskSpace {
 public:
  DiskSpace(const SpacePlan& plan, const CacheDirectory& directory) : plan_(plan), directory_(directory) {}

  // Whether `bytes` more fit now, after all that could be done for it; an error when doing it failed.
  absl::StatusOr<bool> MakeRoom(BlockDatabase& database, int64_t bytes);

  // Blocks were removed or overwritten: merging tables will find garbage.
  void NoteGarbage() { garbage_ = true; }

  // Compactions that collected garbage; bytes of live blocks that they wrote once more.
  int64_t collections() const { return collections_.load(std::memory_order_relaxed); }
  int64_t rewritten_bytes() const { return rewritten_bytes_.load(std::memory_order_relaxed); }

 private:
  struct Choice {
    double share = 0;  // of the blob files, oldest first
    int64_t live_bytes = 0;
    int64_t garbage_bytes = 0;
  };

  bool Fits(int64_t bytes) const;
  bool DeviceTakes(int64_t bytes) const;
  absl::Status Merge(BlockDatabase& database);
  Choice Oldest(BlockDatabase& database) const;
  absl::Status Collect(BlockDatabase& database, const Choice& choice);

  const SpacePlan plan_;
  const CacheDirectory& directory_;
  bool garbage_ = true;  // what an earlier process left
  std::atomic<int64_t> collections_ = 0;
  std::atomic<int64_t> rewritten_bytes_ = 0;
};

}  // namespace headstart::internal

#endif  // HEADSTART_PREFIX_STORE_TIER_INTERNAL_DISK_SPACE_H_
