// The way up, and back after a restart.

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "prefix_store/tiering.h"

namespace headstart {
namespace {

// Blocks in one transfer from a lower tier: several readers share a long prefix, and its first blocks are not kept
// waiting by its last.
constexpr size_t kLoadBatch = 16;

}  // namespace

int64_t Tiering::WorthLoading(int64_t device, int64_t memory, int64_t all) {
  const auto pays = [&](TierKind tier, int64_t blocks) {
    return advisor_.Pays(tier, blocks, blocks * tree_.block_tokens(), loading_blocks_[static_cast<int>(tier)]);
  };
  if (memory > device && !pays(TierKind::kHost, memory - device)) return device;
  if (all > memory && (!Readable(TierKind::kDisk) || !pays(TierKind::kDisk, all - memory))) return memory;
  return all;
}

// With a disk that must take what this pushes out, no more than finds room in host memory meanwhile.
int64_t Tiering::LoadRoom() const {
  int64_t loading = 0;
  for (const int64_t blocks : loading_blocks_) loading += blocks;
  const int64_t window = DiskUsable() ? std::max<int64_t>(Reserve() / 4, 1) : pool_.device().size();
  return std::max<int64_t>(window - loading, 0);
}

bool Tiering::WorthLoadingPart(TierKind tier, int64_t tokens) {
  if (!Readable(tier)) return false;
  return advisor_.Pays(tier, 1, tokens, loading_blocks_[static_cast<int>(tier)]);
}

void Tiering::Load(std::span<const BlockId> blocks) {
  for (size_t first = 0; first < blocks.size();) {
    const bool host = pool_[blocks[first]].in_host();
    auto transfer = std::make_unique<Transfer>();
    transfer->kind = TransferKind::kLoad;
    transfer->tier = host ? TierKind::kHost : TierKind::kDisk;
    for (; first < blocks.size() && pool_[blocks[first]].in_host() == host && transfer->items.size() < kLoadBatch;
         ++first) {
      transfer->items.push_back(LoadItem(blocks[first]));
      ++loading_blocks_[static_cast<int>(transfer->tier)];
    }
    queue_->Submit(std::move(transfer));
  }
}

TransferItem Tiering::LoadItem(BlockId block) const {
  const Block& record = pool_[block];
  TransferItem item;
  item.block = block;
  item.from = {record.key, record.host};
  item.to = {record.key, record.device};
  return item;
}

void Tiering::CommitLoad(const Transfer& transfer) {
  int64_t loaded = 0;
  for (const TransferItem& item : transfer.items) {
    --loading_blocks_[static_cast<int>(transfer.tier)];
    if (item.status.ok()) {
      ++loaded;
    } else {
      LoadFailed(item, transfer.tier);
    }
    residence_.EndLoad(item.block);
  }
  const bool host = transfer.tier == TierKind::kHost;
  (host ? counts_.host_loaded_blocks : counts_.disk_loaded_blocks) += loaded;
  TransferHistograms& transfers = counts_.transfers;
  (host ? transfers.host_reads : transfers.disk_reads).Observe(absl::ToDoubleSeconds(transfer.elapsed));
  advisor_.Loaded(transfer.tier, loaded, transfer.elapsed);
}

// The hit ends before this block, and what hangs below it cannot be reached any more. One that was forgotten meanwhile
// may have been removed before it was read, which says nothing of the tier.
void Tiering::LoadFailed(const TransferItem& item, TierKind tier) {
  pool_[item.block].failed = true;
  const bool damaged = absl::IsDataLoss(item.status) || absl::IsNotFound(item.status);
  const bool forgotten = !pool_[item.block].cached();
  if (!damaged) {
    ++counts_.disk_failures;
    if (tier == TierKind::kDisk) DiskFailed(reads_, "reads from", item.status);
  } else if (!forgotten && counts_.bad_blocks++ == 0) {
    Say("A block came back damaged and was dropped; what it held is computed again", item.status);
  }
  if (!forgotten) Forget(item.block, Gone::kTierError);
}

void Tiering::Recover() {
  if (!has_disk()) return;
  if (absl::Status status = RebuildTree(); !status.ok()) return DiskFailed(writes_, "reads from", status);
  // One that can be read alone does not take this either.
  if (absl::Status status = tiers_.disk->Sync(); !status.ok()) DiskFailed(writes_, "writes to", status);
}

// Some of it may be there from an earlier try that came to no end.
absl::Status Tiering::RebuildTree() {
  Recovery recovery{wall_clock_(), {}, {}, {}};
  for (const Removal& removal : removals_.due()) recovery.going.insert(removal.place.key);
  tree_.ForEach([&](BlockId block) { recovery.present.emplace(pool_[block].key, block); });
  const absl::Status status = tiers_.disk->Recover([&](const PrefixKey& key, const BlockMeta& meta) {
    const bool settled = recovery.going.contains(key) || Known(recovery, key);
    if (!settled && !RecoverBlock(recovery, key, meta)) removals_.Ask({.key = key, .depth = meta.depth});
    return true;
  });
  if (!status.ok()) return status;
  recovered_ = true;
  if (unseen_purges_.empty()) return status;
  unseen_purges_.clear();
  EndEpoch();
  return status;
}

// An earlier try that came to no end brought it into the tree.
bool Tiering::Known(Recovery& recovery, const PrefixKey& key) const {
  const std::optional<BlockId> present = Present(recovery, key);
  if (!present || !pool_[*present].on_disk) return false;
  if (std::ssize(tree_.TokensOf(*present)) == tree_.block_tokens()) recovery.known.emplace(key, *present);
  return true;
}

// False when the record is of no use: its parent is not there, it has expired or was purged, or its key is not its own.
bool Tiering::RecoverBlock(Recovery& recovery, const PrefixKey& key, const BlockMeta& meta) {
  const int64_t length = std::ssize(meta.tokens);
  if (meta.expires <= recovery.now || length == 0 || length > tree_.block_tokens()) return false;
  if (!meta.scope.is_public() && unseen_purges_.contains(meta.scope.tenant())) return false;
  const auto parent = recovery.known.find(meta.parent);
  const bool first = meta.depth == 0 && meta.parent == RootKey(tiers_.fingerprint);
  if (!first && parent == recovery.known.end()) return false;
  const ScopeTable::Use scope = scopes_.Intern(meta.scope);
  if (ChainKey(meta.parent, scopes_.Digest(scope.id()), meta.tokens) != key) return false;

  const TreePosition at = first ? tree_.Root() : tree_.After(parent->second);
  const std::optional<BlockId> present = Present(recovery, key);
  if (present ? !Adopt(*present) : !Fits(at, scope, meta)) return false;
  const BlockId block = present ? *present : InsertRecord(at, scope, key, meta);
  if (pool_[block].expires != kNever || pool_[block].priority != 0) KeepPath(block);
  if (length == tree_.block_tokens()) recovery.known.emplace(key, block);
  return true;
}

// A tail that was there may have made room for a record that has more.
std::optional<BlockId> Tiering::Present(const Recovery& recovery, const PrefixKey& key) const {
  const auto found = recovery.present.find(key);
  if (found == recovery.present.end()) return std::nullopt;
  const Block& record = pool_[found->second];
  return record.cached() && record.key == key ? std::optional(found->second) : std::nullopt;
}

// It was computed before its record was met. False when its writer may still add to it, which makes the record stale.
bool Tiering::Adopt(BlockId block) {
  if (Grows(block)) return false;
  residence_.BeginStore(block, Leaving::kNo);
  residence_.EndStore(block, /*stored=*/true);
  ++disk_blocks_;
  return true;
}

BlockId Tiering::InsertRecord(const TreePosition& at, const ScopeTable::Use& scope, const PrefixKey& key,
                              const BlockMeta& meta) {
  const BlockId block = pool_.NewRecord();
  Block& record = pool_[block];
  record.key = key;
  record.on_disk = true;
  record.hits = meta.hits;
  record.priority = meta.priority;
  record.expires = meta.expires == absl::InfiniteFuture() ? kNever : SecondOf(meta.expires);
  record.last_use.at = residence_.now();
  ++disk_blocks_;
  const auto redundant = tree_.Insert(at, scope, meta.tokens, block);
  if (redundant) Drop(*redundant);
  residence_.Cached(block);
  return block;
}

// Records say what was known when they were written. One that was written later may say that those before it were to be
// kept for longer.
void Tiering::KeepPath(BlockId block) {
  const Block& record = pool_[block];
  for (auto before = tree_.Before(block); before; before = tree_.Before(*before)) {
    const Block& above = pool_[*before];
    const bool kept = LaterExpiry(above.expires, record.expires) == above.expires;
    if (kept && above.priority >= record.priority) return;
    residence_.Keep(*before, record.expires, record.priority);
  }
}

bool Tiering::Fits(const TreePosition& at, const ScopeTable::Use& scope, const BlockMeta& meta) const {
  const ScopeId above = at.node->scope.id();
  if (at.blocks != meta.depth || (above != kPublicScope && above != scope.id())) return false;
  if (std::ssize(meta.tokens) < tree_.block_tokens()) return !tree_.CoversIn(at, scope.id(), meta.tokens);
  return !tree_.FindNextIn(at, scope.id(), meta.tokens);
}

}  // namespace headstart
