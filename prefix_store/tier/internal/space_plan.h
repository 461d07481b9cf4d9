// SpacePlan: how a cap on bytes is divided between blocks and what RocksDB needs beside them.
//
// Of the cap, a reserve is kept for what comes and goes: the write-ahead log, a flush that writes the log's blocks once
// more before the log goes, and one file of blocks being rewritten while its garbage is collected. Of the rest,
// kLiveShare may be blocks: with a quarter of garbage allowed, collecting rewrites at most three bytes for each that it
// frees, and far fewer where old blocks go first, as they do here.
//
// Thread-safety: plain values and pure functions.

#ifndef HEADSTART_PREFIX_STORE_TIER_INTERNAL_SPACE_PLAN_H_
#define HEADSTART_PREFIX_STORE_TIER_INTERNAL_SPACE_PLAN_H_

#include <cstdint>

#include "absl/status/statusor.h"

namespace headstart::internal {

struct SpacePlan {
  int64_t capacity_bytes = 0;
  int64_t capacity_blocks = 0;
  int64_t batch_blocks = 0;
  int64_t batch_bytes = 0;         // of that many blocks and what is written beside them
  int64_t write_buffer_bytes = 0;  // of blocks that wait in memory to be flushed
  int64_t blob_file_bytes = 0;
  int64_t collect_bytes = 0;  // free space without which garbage is collected before more is written
};

// INVALID_ARGUMENT, naming the least that works, when not one block fits.
absl::StatusOr<SpacePlan> PlanSpace(int64_t capacity_bytes, int64_t block_bytes);

}  // namespace headstart::internal

#endif  // HEADSTART_PREFIX_STORE_TIER_INTERNAL_SPACE_PLAN_H_
