// Replay: a trace run through the very store that serves, with no bytes behind it, to see what it would have found.
//
// A block of the trace becomes one block of the store, of a few tokens made up from its name. Requests come one after
// another; each is acquired, published and let go at once, and the store's clock shows the trace's times.
//
// What is counted follows the rule that published curves use: a request's hit is its longest run of leading cached
// blocks, then all its blocks are touched, deepest first, and what exceeds the capacity goes. To get that from a store
// that serves:
//   * It always leaves a prompt's last token to be computed, so each prompt is given one token more than its blocks.
//     That token needs a block while the request runs, so the store has one block more than `capacity_blocks`; the
//     token is never published, so that block is free again afterwards and the cache holds `capacity_blocks`.
//   * It makes room before it runs a request and not after. The blocks that go are the same: those of the request
//     itself are held while room is made.
//   * It refuses a prompt larger than its memory. Such a prompt is cut to `capacity_blocks`, which is what a cache
//     trimmed afterwards keeps of it; the blocks cut off count as asked for, and as not found.
// With lower tiers, what they move takes no time and is done before the next request; all that they have is loaded.
//
// Thread-safety: none; each Replay makes a store of its own.
//
//   auto result = Replay(*trace, {.capacity_blocks = 10'000}, now_ns);
//   std::cout << result->block_hit_ratio();

#ifndef HEADSTART_PREFIX_STORE_REPLAY_REPLAY_H_
#define HEADSTART_PREFIX_STORE_REPLAY_REPLAY_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "prefix_store/prefix_store.h"
#include "prefix_store/replay/trace.h"

namespace headstart {

struct ReplayOptions {
  int64_t capacity_blocks = 0;  // of the device; REQUIRED, at least 1
  int64_t host_blocks = 0;      // of host memory
  int64_t disk_blocks = 0;      // of the disk, which is reached through host memory: needs some of that
  EvictionPolicyKind policy = PrefixStoreOptions().policy;
};

// What one kind of call took, all together.
struct OperationTime {
  int64_t calls = 0;
  int64_t total_ns = 0;
  double mean_ns() const { return calls == 0 ? 0 : static_cast<double>(total_ns) / static_cast<double>(calls); }
};

struct TierHits {
  std::string_view tier;
  int64_t blocks = 0;
  int64_t tokens = 0;
};

struct ReplayResult {
  int64_t requests = 0;
  int64_t blocks = 0;  // asked for
  int64_t tokens = 0;
  std::vector<TierHits> hits;  // fastest tier first
  int64_t evicted_blocks = 0;
  OperationTime acquire, publish, release;

  double block_hit_ratio() const;
  double token_hit_ratio() const;
};

// `now_ns` is a clock for the time that operations take; nothing else depends on it.
// INVALID_ARGUMENT when the store cannot be made with `options`.
absl::StatusOr<ReplayResult> Replay(const Trace& trace, const ReplayOptions& options,
                                    absl::FunctionRef<int64_t()> now_ns);

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_REPLAY_REPLAY_H_
