// EvictionPolicy: which cached block a tier should give up next.
//
// Each tier has a policy of its own. The store tells it which of the tier's blocks may go (Track) and which no longer
// may (Untrack); a block that a sequence or a transfer holds is not tracked. There is no separate verb for a use: a
// used block is untracked and, when its last holder lets go, tracked again with one hit more. A sequence's blocks are
// tracked deepest first, so that a parent is always a little younger than its children. Time comes with the calls, from
// the store's clock, which never goes back; a policy asks no clock itself.
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

// Milliseconds on the store's clock: since the store began; never goes back.
enum class AgeMs : int64_t {};

// Kinds of sequences that a ReuseModel tells apart by how soon their blocks come back.
enum class SequenceKind : uint8_t {};

// The last use of a block, that is, of the sequence that published it or found it. All blocks of that sequence have the
// same one, which ReuseModel::SequenceEnds makes; left as it is, nothing is known of the sequence.
struct LastUse {
  AgeMs at{};         // when that sequence let go of it
  uint32_t turn = 0;  // which turn of its conversation that sequence was: 1 for the first, 0 when not known
  SequenceKind kind{};
};

// What a policy may weigh.
struct BlockFacts {
  uint32_t depth = 0;        // blocks before it in its sequence: recomputing it is dearer the deeper it lies
  uint32_t hits = 0;         // acquisitions that found it
  int8_t priority = 0;       // as the requests that used it asked: −1, 0 or 1; a lower one goes first
  int tokens = 0;            // what it holds; fewer than a block in the last block of a sequence
  uint64_t prefix_hash = 0;  // of all tokens up to its end
  LastUse last_use = {};
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

  // `block` may be evicted from now on. Its last use is now, or lies back when it came from a faster tier. Ids are
  // small integers; no bound is known ahead. REQUIRES: it is not tracked.
  virtual void Track(BlockId block, const BlockFacts& facts) = 0;

  // REQUIRES: it is tracked.
  virtual void Untrack(BlockId block, UntrackReason reason) = 0;

  // The first block, from the least to the most worth keeping, that `may_go`: one without children in the tier.
  // Nothing when none may. May reorder what it knows, and changes what is tracked in nothing.
  virtual std::optional<BlockId> Victim(AgeMs now, absl::FunctionRef<bool(BlockId)> may_go) = 0;

  virtual bool Contains(BlockId block) const = 0;

  // Blocks tracked.
  virtual int64_t size() const = 0;

  // Tracks nothing any more.
  virtual void Reset() = 0;

  // Calls `visit` with each figure worth watching.
  virtual void VisitCounters(absl::FunctionRef<void(std::string_view name, int64_t value)> visit) const = 0;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_EVICTION_POLICY_H_
