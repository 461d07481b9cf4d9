// Tiering: the traffic of blocks between device, host memory and disk.
//
//   device ──(1)──> host ──(2)──> disk          (1) evicting from the device: a copy in memory, made at once
//      ^              │             │           (2) when host memory runs short, or a block was hit twice: a transfer
//      └─────(3)──────┴─────(3)─────┘           (3) on a hit, when it pays: a transfer
//
// What leaves host memory is written to disk before its slot is used again, ahead of need: a reserve of slots is kept
// free. When the disk cannot keep up, or is off, the block least worth keeping is forgotten in place of waiting. What
// is evicted is written as it comes, deepest first; what is written otherwise (often found, at shutdown) goes with the
// path before it, since a restart finds only what hangs on the root.
//
// Thread-safety: none; the scheduler thread's. Ownership: all it is given outlives it.

#ifndef HEADSTART_PREFIX_STORE_TIERING_H_
#define HEADSTART_PREFIX_STORE_TIERING_H_

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "prefix_store/prefix_store.h"
#include "prefix_store/removals.h"
#include "prefix_store/residence.h"
#include "prefix_store/transfer/load_advisor.h"
#include "prefix_store/transfer/tier_health.h"
#include "prefix_store/transfer/transfer_queue.h"

namespace headstart {

class Tiering {
 public:
  // Hears in one sentence what an operator should know.
  using OnEvent = std::function<void(const std::string&)>;

  // `wall_clock` says what has expired when the tree is rebuilt.
  Tiering(const PrefixStoreTiers& tiers, OnEvent on_event, std::function<absl::Time()> wall_clock, BlockPool& pool,
          PrefixTree& tree, ScopeTable& scopes, Residence& residence);

  // --- demotion.cc

  // Makes one device slot free. REQUIRES: residence.evictable_device() > 0.
  void EvictDevice();

  // Takes a block and all below it out of every tier. Holders keep their bytes. Later misses hear `why`, when it is to
  // be told. Returns how many of the blocks nobody leased.
  int64_t Forget(BlockId block, std::optional<Gone> why = Gone::kEvicted);

  // A block has left the tree otherwise: what lower tiers have of it is to go as well.
  void Drop(BlockId block);

  // Everything has left the tree. To be called for each block before its record goes.
  void LeftTree(BlockId block);

  // --- storing.cc

  // Found so often, or pinned, a block is written to disk, with the path before it, without waiting for its eviction.
  static bool IsFoundOften(const Block& block);
  void WriteThrough(BlockId block);

  // As PrefixStore::StoreAll.
  int64_t StoreAll();

  // --- loading.cc

  // How many blocks of a path are worth having, of which `device` are on the device, `memory` in memory, `all`
  // anywhere.
  int64_t WorthLoading(int64_t device, int64_t memory, int64_t all);

  // The same of the first `tokens` tokens of one more block.
  bool WorthLoadingPart(TierKind tier, int64_t tokens);

  // False while reading from it fails.
  bool Readable(TierKind tier) const { return tier != TierKind::kDisk || reads_.on(); }

  // How many blocks may begin to be brought up now.
  int64_t LoadRoom() const;

  // Brings up blocks. REQUIRES: their loads have begun (Residence::BeginLoad), and their bytes are below.
  void Load(std::span<const BlockId> blocks);

  // As PrefixStore::Recover.
  void Recover();

  // --- tiering.cc

  // As PrefixStore::Poll.
  void Poll();

  // A block has come into the tree: gives it the name that lower tiers know it by.
  void NameBlock(BlockId block);

  // What was forgotten until now is to be gone for good, with all that the disk has of a tenant, or at all:
  // RemovalsPending says whether any of it could still be read from disk after a restart.
  void Purged(std::string_view tenant);
  void Flushed();
  bool RemovalsPending() const { return has_disk() && (durable_ < removals_.epoch() || !unseen_purges_.empty()); }

  // Whether they wait for a disk that has refused them.
  bool RemovalsRefused() const { return RemovalsPending() && !DiskUsable() && !urgent_ && changes_ == 0; }

  void Computed(int64_t tokens, absl::Duration elapsed) { advisor_.Computed(tokens, elapsed); }
  void AddStats(PrefixStoreStats& stats) const;
  bool has_host() const { return tiers_.host != nullptr; }
  bool has_disk() const { return tiers_.disk != nullptr; }

 private:
  // A rebuilding of the tree, while it lasts.
  struct Recovery {
    absl::Time now;
    absl::flat_hash_map<PrefixKey, BlockId> known;    // whole blocks that are on disk
    absl::flat_hash_map<PrefixKey, BlockId> present;  // what was in the tree before
    absl::flat_hash_set<PrefixKey> going;             // records whose removal is due
  };

  // --- demotion.cc
  bool DemoteToHost(BlockId block);
  bool CopyDown(BlockId block);
  bool MakeRoomInHost();
  bool MakeRoomOnDisk(std::optional<BlockId> kept);

  // --- storing.cc
  int64_t Reserve() const;
  void KeepReserve();
  void DrainWriteThrough();
  std::vector<BlockId> MissingOnDisk(BlockId block) const;
  // Begins to write what of the path down to `block` is not on disk, the top first. False when nothing could be begun.
  bool StorePath(BlockId block);
  static std::unique_ptr<Transfer> NewStore();
  void AddStore(Transfer& transfer, BlockId block, Leaving leaving);
  void SubmitStore(std::unique_ptr<Transfer> transfer);
  bool Grows(BlockId block) const;
  bool Stage(BlockId block);
  TransferItem StoreItem(BlockId block) const;
  void CommitStore(const Transfer& transfer);
  void Stored(const TransferItem& item);
  void NotStored(const TransferItem& item);

  // --- loading.cc
  TransferItem LoadItem(BlockId block) const;
  void CommitLoad(const Transfer& transfer);
  void LoadFailed(const TransferItem& item, TierKind tier);
  void KeepPath(BlockId block);
  absl::Status RebuildTree();
  std::optional<BlockId> Present(const Recovery& recovery, const PrefixKey& key) const;
  bool Known(Recovery& recovery, const PrefixKey& key) const;
  bool Adopt(BlockId block);
  BlockId InsertRecord(const TreePosition& at, const ScopeTable::Use& scope, const PrefixKey& key,
                       const BlockMeta& meta);
  bool RecoverBlock(Recovery& recovery, const PrefixKey& key, const BlockMeta& meta);
  bool Fits(const TreePosition& at, const ScopeTable::Use& scope, const BlockMeta& meta) const;

  // --- tiering.cc
  void Commit(const Transfer& transfer);
  void CommitRemoval(const Transfer& transfer);
  void CommitClear(const Transfer& transfer);
  void CommitSync(const Transfer& transfer);
  void CommitProbe(const Transfer& transfer);
  void EndEpoch();
  void Remove();
  void SubmitClear();
  void SubmitRemovals();
  void SubmitSync();
  void SubmitChange(TransferKind kind, std::vector<TransferItem> items = {});
  void DiskFailed(TierHealth& health, std::string_view what, const absl::Status& status);
  void Probe();
  void Say(std::string_view what, const absl::Status& status) const;
  PrefixKey ParentKey(BlockId block) const;
  bool DiskUsable() const { return has_disk() && writes_.on(); }
  bool MayStore() const { return DiskUsable() && !removals_.clearing(); }

  const PrefixStoreTiers tiers_;
  const OnEvent on_event_;
  const std::function<absl::Time()> wall_clock_;
  BlockPool& pool_;
  PrefixTree& tree_;
  ScopeTable& scopes_;
  Residence& residence_;
  LoadAdvisor advisor_;
  TierHealth writes_;
  TierHealth reads_;
  std::unique_ptr<TransferQueue> queue_;            // null without lower tiers
  std::deque<BlockId> write_through_;               // may name blocks that are gone, or other blocks by now
  Removals removals_;                               // disk records whose blocks have left the tree
  RemovalEpoch durable_{};                          // the removals of all epochs before it are done and synced
  std::optional<RemovalEpoch> syncing_;             // what durable_ is once the sync that is under way has succeeded
  bool urgent_ = false;                             // removals are to be tried once more, although the disk is off
  int64_t changes_ = 0;                             // removals, clears and syncs under way
  bool recovered_ = false;                          // the tree knows all that the disk has
  absl::flat_hash_set<std::string> unseen_purges_;  // tenants purged before that: theirs is not to come into the tree
  int64_t disk_blocks_ = 0;                         // records there when all that is under way has been done
  int64_t storing_blocks_ = 0;
  std::array<int64_t, kTierKinds> loading_blocks_ = {};
  PrefixStoreStats counts_;  // those of its own
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_TIERING_H_
