// PrefixStoreCore: the rooms of the store put together. prefix_store.h is its contract; this is what lies behind it.
//
// Thread-safety: none; the scheduler thread's.

#ifndef HEADSTART_PREFIX_STORE_PREFIX_STORE_CORE_H_
#define HEADSTART_PREFIX_STORE_PREFIX_STORE_CORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "prefix_store/block_hash.h"
#include "prefix_store/block_pool.h"
#include "prefix_store/eviction/policy.h"
#include "prefix_store/ghost_list.h"
#include "prefix_store/in_flight.h"
#include "prefix_store/lease.h"
#include "prefix_store/prefix_store.h"
#include "prefix_store/prefix_tree.h"
#include "prefix_store/scope_table.h"
#include "prefix_store/sequence_state.h"

namespace headstart {

class PrefixStoreCore {
 public:
  explicit PrefixStoreCore(const PrefixStoreOptions& options);

  // --- prefix_store.cc
  Match Lookup(const Scope& scope, TokenSpan tokens) const;
  int64_t Flush();
  PrefixStoreStats stats() const;
  const PrefixStoreOptions& options() const { return options_; }

  // --- acquire.cc
  absl::StatusOr<std::unique_ptr<SequenceState>> Acquire(const AcquireRequest& request);
  absl::Status Reserve(SequenceState& sequence, int64_t tokens);
  void CopiesDone(SequenceState& sequence);
  void Release(SequenceState& sequence);

  // --- publish.cc
  int64_t Publish(SequenceState& sequence, TokenSpan tokens);

  // --- prefix_store_check.cc
  absl::Status Check() const;

 private:
  // What an acquisition will hold, worked out before anything changes.
  struct Plan {
    TreeMatch match;
    std::vector<BlockId> path = {};  // cached blocks to share
    int64_t fresh_blocks = 0;
    MissReason miss_reason = MissReason::kNone;
  };

  int64_t BlocksFor(int64_t tokens) const { return (tokens + options_.block_tokens - 1) / options_.block_tokens; }
  int64_t MatchedTokens(const TreeMatch& match) const {
    return match.at.blocks * options_.block_tokens + match.partial_tokens;
  }
  TreeMatch FindMatch(ScopeId scope, TokenSpan tokens) const;
  MissReason WhyNotMore(const Scope& scope, TokenSpan tokens, const TreeMatch& match) const;
  bool WasEvicted(const Scope& scope, TokenSpan tokens, const TreeMatch& match) const;

  absl::StatusOr<Plan> MakePlan(const AcquireRequest& request) const;
  absl::Status MakeFit(Plan& plan) const;
  std::unique_ptr<SequenceState> CarryOut(const Plan& plan, const AcquireRequest& request);
  void HoldPath(const Plan& plan, SequenceState& sequence);
  void HoldCopySource(const Plan& plan, SequenceState& sequence);
  void TakeFresh(int64_t count, SequenceState& sequence);
  void RecordUse(const SequenceState& sequence);
  int64_t Unheld(const std::vector<BlockId>& blocks) const;

  TreePosition PositionOf(const SequenceState& sequence, int64_t block) const;
  int64_t PublishWhole(SequenceState& sequence, TokenSpan block);
  int64_t PublishTail(SequenceState& sequence, TokenSpan tail);
  void TakeOut(BlockId block);
  void Share(SequenceState& sequence, int64_t index, BlockId shared);
  void Insert(SequenceState& sequence, const TreePosition& at, TokenSpan tokens, BlockId block);
  int64_t Count(SequenceState& sequence, int64_t end, bool written);

  absl::Status CheckLeases() const;
  absl::Status CheckEviction() const;

  const PrefixStoreOptions options_;
  const BlockHasher hasher_;
  ScopeTable scopes_;
  BlockPool pool_;
  PrefixTree tree_;
  std::function<AgeMs()> clock_;
  ReuseModel reuse_;
  std::unique_ptr<EvictionPolicy> policy_;
  GhostList ghosts_;
  Leases leases_;
  InFlight in_flight_;
  absl::flat_hash_set<SequenceState*> running_;
  Tick now_{};
  PrefixStoreStats counts_;  // the counters; levels are filled in by stats()
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_PREFIX_STORE_CORE_H_
