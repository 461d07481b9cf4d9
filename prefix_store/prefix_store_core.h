// PrefixStoreCore: the rooms of the store put together. prefix_store.h is its contract; this is what lies behind it.
//
// Thread-safety: none; the scheduler thread's.

#ifndef HEADSTART_PREFIX_STORE_PREFIX_STORE_CORE_H_
#define HEADSTART_PREFIX_STORE_PREFIX_STORE_CORE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "prefix_store/block_hash.h"
#include "prefix_store/block_pool.h"
#include "prefix_store/ghost_list.h"
#include "prefix_store/in_flight.h"
#include "prefix_store/pin_state.h"
#include "prefix_store/prefix_store.h"
#include "prefix_store/prefix_tree.h"
#include "prefix_store/residence.h"
#include "prefix_store/scope_table.h"
#include "prefix_store/sequence_state.h"
#include "prefix_store/tiering.h"

namespace headstart {

class PrefixStoreCore {
 public:
  PrefixStoreCore(const PrefixStoreOptions& options, const PrefixStoreTiers& tiers);

  // --- prefix_store.cc
  Match Lookup(const Scope& scope, TokenSpan tokens) const;
  void Recover() { tiering_.Recover(); }
  void Poll();
  void Computed(int64_t tokens, absl::Duration elapsed) { tiering_.Computed(tokens, elapsed); }
  int64_t StoreAll() { return tiering_.StoreAll(); }
  int64_t Flush();
  int64_t PurgeTenant(std::string_view tenant);
  bool RemovalsPending() const { return tiering_.RemovalsPending(); }
  bool RemovalsRefused() const { return tiering_.RemovalsRefused(); }
  absl::Time NextExpiry() const { return TimeOfExpiry(residence_.next_expiry()); }
  PrefixStoreStats stats() const;
  const PrefixStoreOptions& options() const { return options_; }

  // --- acquire.cc
  absl::StatusOr<std::unique_ptr<SequenceState>> Acquire(const AcquireRequest& request);
  absl::Status Reserve(SequenceState& sequence, int64_t tokens);
  void Take(SequenceState& sequence, int64_t tokens);
  void CopiesDone(SequenceState& sequence);
  void Release(SequenceState& sequence);

  // --- publish.cc
  int64_t Publish(SequenceState& sequence, TokenSpan tokens);

  // --- pins.cc
  absl::StatusOr<std::unique_ptr<PinState>> Pin(const Scope& scope, TokenSpan tokens);
  absl::StatusOr<int64_t> CheckPin(const Scope& scope, TokenSpan tokens, int64_t promised_blocks) const;
  void Unpin(PinState& pin);
  int64_t PinnedTokens(const PinState& pin) const;

  // --- prefix_store_check.cc
  absl::Status Check() const;

 private:
  // What an acquisition will hold, worked out before anything changes.
  struct Plan {
    TreeMatch match;
    std::vector<BlockId> path = {};   // cached blocks to share
    std::vector<BlockId> loads = {};  // of those and the one to copy from: those that are not on the device
    int64_t fresh_blocks = 0;
    int64_t passed_over_blocks = 0;  // cached below the device, and not worth bringing up
    MissReason miss_reason = MissReason::kNone;
  };

  int64_t BlocksFor(int64_t tokens) const { return (tokens + options_.block_tokens - 1) / options_.block_tokens; }
  int64_t MatchedTokens(const TreeMatch& match) const {
    return match.at.blocks * options_.block_tokens + match.partial_tokens;
  }
  TreeMatch FindMatch(ScopeId scope, TokenSpan tokens) const;
  TreeMatch WithoutExpired(TreeMatch match) const;
  void ForgetExpired();
  TokensByTier ByTier(const TreeMatch& match) const;  // as the tiers are now
  TierKind NearestTier(BlockId block) const;
  MissReason WhyNotMore(const Scope& scope, TokenSpan tokens, const TreeMatch& match) const;
  std::optional<Gone> WhyGone(const Scope& scope, TokenSpan tokens, const TreeMatch& match) const;

  absl::StatusOr<Plan> MakePlan(const AcquireRequest& request);
  void PlanLoads(Plan& plan);
  MissReason WhyPassedOver(BlockId block) const;
  static void DropPart(Plan& plan);
  absl::Status MakeFit(Plan& plan) const;
  std::unique_ptr<SequenceState> CarryOut(const Plan& plan, const AcquireRequest& request);
  void HoldPath(const Plan& plan, SequenceState& sequence);
  void CountTiers(const Plan& plan, SequenceState& sequence) const;
  void StartLoads(SequenceState& sequence);
  LoadState LoadStateOf(const SequenceState& sequence) const;
  void Ready(SequenceState& sequence);
  void AdvanceLoads();
  void TakeFresh(int64_t count, SequenceState& sequence);
  void MakeDeviceRoom();
  int64_t Available() const { return residence_.free_device() + residence_.evictable_device() - reserved_blocks_; }
  void RecordUse(const SequenceState& sequence);
  uint32_t ExpiryOf(SequenceState& sequence) const;
  void SettleLast(const SequenceState& sequence);
  bool IsLoading(const SequenceState& sequence) const;
  void Abandon(SequenceState& sequence);
  void ReleaseAbandoned();
  int64_t Unheld(const std::vector<BlockId>& blocks) const;

  TreePosition PositionOf(const SequenceState& sequence, int64_t block) const;
  int64_t PublishWhole(SequenceState& sequence, TokenSpan block);
  int64_t PublishTail(SequenceState& sequence, TokenSpan tail);
  bool TakeOut(BlockId block);
  void MarkNew(SequenceState& sequence, BlockId block);
  void Share(SequenceState& sequence, int64_t index, BlockId shared);
  void StopPublishing(SequenceState& sequence);
  void Insert(SequenceState& sequence, const TreePosition& at, TokenSpan tokens, BlockId block);
  int64_t Count(SequenceState& sequence, int64_t end, bool written);

  std::vector<BlockId> Pinnable(const Scope& scope, TokenSpan tokens) const;
  absl::Status CheckShare(int64_t more, int64_t promised) const;
  int64_t PinnedOf(const std::vector<BlockId>& blocks) const;
  void HoldPin(BlockId block);
  void LetGoPin(BlockId block);
  void MovePins(BlockId from, std::optional<BlockId> to);

  absl::Status CheckLeases() const;
  absl::Status CheckPins(std::vector<uint32_t>& held) const;
  absl::Status CheckHeld(const SequenceState& sequence, std::vector<uint32_t>& held) const;
  absl::Status CheckSlots() const;

  const PrefixStoreOptions options_;
  const std::function<absl::Time()> wall_clock_;
  const BlockHasher hasher_;
  ScopeTable scopes_;
  BlockPool pool_;
  PrefixTree tree_;
  GhostList ghosts_;
  ReuseModel reuse_;  // of all tiers
  Residence residence_;
  Tiering tiering_;
  InFlight in_flight_;
  int64_t reserved_blocks_ = 0;  // of all sequences
  absl::flat_hash_set<SequenceState*> running_;
  std::vector<SequenceState*> loading_;  // of those: what they found is not all on the device yet; oldest first
  // Paths of sequences that went while their blocks were being loaded: held until that has ended.
  std::vector<std::unique_ptr<SequenceState>> abandoned_;
  absl::flat_hash_set<PinState*> pins_;
  int64_t pinned_blocks_ = 0;  // blocks that pins hold, each counted once
  PrefixStoreStats counts_;    // the counters; levels are filled in by stats()
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_PREFIX_STORE_CORE_H_
