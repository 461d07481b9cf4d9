// Residence: where each block's bytes are, who holds them, and what may go. The one place that changes any of the
// three, so that the tree, the slots and the policies always agree.
//
//   a block in the tree ...                 | device policy     | host policy       | disk policy
//   ----------------------------------------|-------------------|-------------------|------------------
//   leased by a sequence or a pin           | not tracked       | a copy is tracked | not tracked
//   read or written by a transfer           | unless it loads   | not tracked       | not tracked
//   neither                                 | if it has a slot  | if it has a slot  | if it is on disk
//
// A block in the tree that nobody leases is in the queue of those that expire, when it has an expiry.
//
// A copy in host memory of what is on the device as well waits in a queue of its own: copies are the first to go.
//
// Thread-safety: none; the scheduler thread's.
// Ownership: pool, tree, scopes and ghosts outlive it.

#ifndef HEADSTART_PREFIX_STORE_RESIDENCE_H_
#define HEADSTART_PREFIX_STORE_RESIDENCE_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "prefix_store/block_ages.h"
#include "prefix_store/block_pool.h"
#include "prefix_store/eviction/block_queue.h"
#include "prefix_store/eviction/policy.h"
#include "prefix_store/expiry.h"
#include "prefix_store/ghost_list.h"
#include "prefix_store/prefix_tree.h"

namespace headstart {

// Whether a block that is written to disk is to leave host memory for it.
enum class Leaving { kNo, kYes };

class Residence {
 public:
  using Policies = std::array<std::unique_ptr<EvictionPolicy>, kTierKinds>;  // one for each tier
  using Clock = std::function<AgeMs()>;

  Residence(BlockPool& pool, PrefixTree& tree, const ScopeTable& scopes, GhostList& ghosts, Policies policies,
            Clock clock)
      : pool_(pool),
        tree_(tree),
        scopes_(scopes),
        ghosts_(ghosts),
        policies_(std::move(policies)),
        clock_(std::move(clock)) {}

  // --- holders

  // Holds a block once more than before. It need not be on the device.
  void Lease(BlockId block);

  // Lets it go. To be called deepest first along a path, when the blocks' last use is recorded.
  void Release(BlockId block);

  // What was used, or published, by those who asked to have it kept until `expires`: it keeps the latest expiry and the
  // highest priority it was given. To be called before Release, with the same for all blocks before it, so that no
  // block expires before those below it.
  void Keep(BlockId block, uint32_t expires, int8_t priority);

  // The block is given a device slot, which a transfer is to fill from below, or the transfer ends. From its begin on
  // what is below stands still: a slot that holds nothing yet must not pass for the original of a copy in host memory.
  void BeginLoad(BlockId block);  // REQUIRES: free_device() > 0
  void EndLoad(BlockId block);

  // A transfer begins to write its bytes to disk, or ends. From its begin on the block counts as being there.
  void BeginStore(BlockId block, Leaving leaving);
  void EndStore(BlockId block, bool stored);

  // --- places

  void TakeHost(BlockId block);  // REQUIRES: free_host() > 0

  // Takes the block's bytes out of one tier. REQUIRES: they are in another one, or the block is not cached.
  void LeaveDevice(BlockId block);
  void LeaveHost(BlockId block);
  void LeaveDisk(BlockId block);

  // The device slot of `from`, which is not cached, becomes that of `to`, which has none.
  void MoveDevice(BlockId from, BlockId to);

  // --- the end

  // What `tier` should give up next, or nothing when nothing may go. Only blocks without children in the tier's reach.
  std::optional<BlockId> Victim(TierKind tier, absl::FunctionRef<bool(BlockId)> may_go);

  // The next block that has expired by `now`, if any. Nothing hangs below it.
  std::optional<BlockId> Due(uint32_t now) const { return expiring_.Due(now); }

  // Takes a block, and all below it, out of the tree; holders keep theirs. Calls `forgotten` with each block, deepest
  // first, while its record is still there. Remembers for later misses `why`, when it is to be told.
  void Forget(BlockId block, std::optional<Gone> why, absl::FunctionRef<void(BlockId)> forgotten);

  // A block has come into the tree, whether somebody holds it or not.
  void Cached(BlockId block);

  // A victim of `tier` is about to leave it.
  void Evicting(TierKind tier, BlockId block) { ages_.Evicted(tier, pool_[block], now()); }

  // An acquisition finds blocks, and is about to lease them.
  void Found(std::span<const BlockId> blocks);

  // A block has left the tree: what its record held is given back when nobody holds it any more.
  void Uncached(BlockId block);

  // Everything has left the tree.
  void Reset();

  // --- levels
  int64_t free_device() const { return pool_.device().free(); }
  int64_t free_host() const { return pool_.host().free(); }
  int64_t evictable_device() const { return policy(TierKind::kDevice).size(); }
  AgeMs now() const { return clock_(); }
  uint32_t next_expiry() const { return expiring_.next(); }  // or kNever
  const EvictionPolicy& policy(TierKind tier) const { return *policies_[static_cast<size_t>(tier)]; }
  const BlockAgeHistograms& ages() const { return ages_.histograms(); }

  absl::Status Check() const;

 private:
  EvictionPolicy& policy(TierKind tier) { return *policies_[static_cast<size_t>(tier)]; }
  bool MayBeTracked(const Block& block, TierKind tier) const;
  void Update(BlockId block, UntrackReason reason);
  void UpdateExpiry(BlockId block);
  void Track(BlockId block, TierKind tier, bool copy);
  void Untrack(BlockId block, TierKind tier, UntrackReason reason);
  void FreeIfUnused(BlockId block);
  BlockFacts FactsOf(BlockId block) const;
  absl::Status CheckTier(BlockId id, TierKind tier) const;
  absl::Status CheckExpiry() const;

  template <typename Change>
  void Move(BlockId block, UntrackReason reason, Change change);

  BlockPool& pool_;
  PrefixTree& tree_;
  const ScopeTable& scopes_;
  GhostList& ghosts_;
  Policies policies_;
  const Clock clock_;
  BlockQueue host_copies_;  // in host memory and on the device
  ExpiryQueue expiring_;
  BlockAges ages_;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_RESIDENCE_H_
