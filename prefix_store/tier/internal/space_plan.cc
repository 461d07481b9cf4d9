#include "prefix_store/tier/internal/space_plan.h"

#include <algorithm>

#include "absl/status/status.h"
#include "fmt/format.h"

namespace headstart::internal {
namespace {

constexpr int64_t kKiB = 1024;
constexpr int64_t kMiB = 1024 * kKiB;

// The share of each thing that comes and goes: small against the cap, yet so large that large caps need few files.
constexpr int64_t kShares = 32;
constexpr int64_t kLeastBuffer = 256 * kKiB;
constexpr int64_t kMostBuffer = 64 * kMiB;     // memory
constexpr int64_t kMostBlobFile = 256 * kMiB;  // the unit of garbage collection
constexpr int64_t kMostBatch = 16 * kMiB;      // memory, and how long a batch keeps others waiting

// A block's record, its two keys, trailer and blob header, and their copies while tables are merged: 16 tokens take
// about 200 bytes, 256 tokens with long names about 1.2 KiB.
constexpr int64_t kBesideBlock = 2 * kKiB;

// MANIFEST, OPTIONS, marker and named records.
constexpr int64_t kFixed = 512 * kKiB;

constexpr double kLiveShare = 0.75;

}  // namespace

absl::StatusOr<SpacePlan> PlanSpace(int64_t capacity_bytes, int64_t block_bytes) {
  const int64_t block = block_bytes + kBesideBlock;
  const int64_t share = capacity_bytes / kShares;
  SpacePlan plan{.capacity_bytes = capacity_bytes};
  plan.write_buffer_bytes = std::clamp(share, kLeastBuffer, kMostBuffer);
  plan.blob_file_bytes = std::clamp(share, kLeastBuffer, kMostBlobFile);
  plan.batch_blocks = std::max<int64_t>(1, std::min(share, kMostBatch) / block);
  plan.batch_bytes = plan.batch_blocks * block;
  // A file is closed by the block that fills it, so it may be one block longer.
  plan.collect_bytes = plan.blob_file_bytes + block;
  const int64_t log = plan.write_buffer_bytes + plan.batch_bytes;
  const int64_t reserve = 2 * log + plan.collect_bytes + kFixed;
  plan.capacity_blocks = static_cast<int64_t>(static_cast<double>(capacity_bytes - reserve) * kLiveShare) / block;
  if (plan.capacity_blocks >= 1) return plan;
  const int64_t least = reserve + static_cast<int64_t>(static_cast<double>(block) / kLiveShare) + 1;
  return absl::InvalidArgumentError(
      fmt::format("a disk tier of {} bytes holds no block of {} bytes: give it at least {} bytes or none at all",
                  capacity_bytes, block_bytes, least));
}

}  // namespace headstart::internal
