// EvictionPolicy: which cached block to forget next.
//
// The store tells a policy which blocks may go (Track) and which no longer may (Untrack); a block that a sequence holds
// is not tracked. There is no separate verb for a use: every use is a lease, so a used block is untracked and, when its
// last holder lets go, tracked again with one hit more. A sequence's blocks are tracked deepest first, so that a parent
// is always a little younger than its children. Time is the order of calls and the ticks in BlockFacts; no clock.
//
// Thread-safety: none; the scheduler thread's.

#ifndef HEADSTART_PREFIX_STORE_EVICTION_POLICY_H_
#define HEADSTART_PREFIX_STORE_EVICTION_POLICY_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "prefix_store/types.h"

namespace headstart {

// What a policy may weigh. A policy with a memory longer than the block's own keys it by `prefix_hash`.
struct BlockFacts {
  uint32_t depth;  // blocks before it in its sequence: recomputing it is dearer the deeper it lies
  uint32_t hits;   // acquisitions that found it
  Tick last_use;
  int tokens;            // what it holds; fewer than a block in the last block of a sequence
  uint64_t prefix_hash;  // of all tokens up to its end
};

enum class UntrackReason {
  kLeased,   // a sequence holds it now; it comes back
  kEvicted,  // this policy's victim
  kDropped,  // it left the cache for another reason
};

class EvictionPolicy {
 public:
  virtual ~EvictionPolicy() = default;

  virtual std::string_view name() const = 0;

  // `block` may be evicted from now on and was used just now. REQUIRES: it is not tracked.
  virtual void Track(BlockId block, const BlockFacts& facts) = 0;

  // REQUIRES: it is tracked.
  virtual void Untrack(BlockId block, UntrackReason reason) = 0;

  // The first block, from the least to the most worth keeping, that may go: one that has no children.
  // Nothing when none may. Changes nothing.
  virtual std::optional<BlockId> Victim(absl::FunctionRef<bool(BlockId)> may_go) const = 0;

  virtual bool Contains(BlockId block) const = 0;

  // Blocks tracked.
  virtual int64_t size() const = 0;

  // Tracks nothing any more and forgets what it learned.
  virtual void Reset() = 0;

  // Calls `visit` with each figure worth watching.
  virtual void VisitCounters(absl::FunctionRef<void(std::string_view name, int64_t value)> visit) const = 0;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_EVICTION_POLICY_H_
