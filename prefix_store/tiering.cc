#include "prefix_store/tiering.h"

#include <algorithm>
#include <utility>

#include "fmt/format.h"

namespace headstart {

Tiering::Tiering(const PrefixStoreTiers& tiers, OnEvent on_event, std::function<absl::Time()> wall_clock,
                 BlockPool& pool, PrefixTree& tree, ScopeTable& scopes, Residence& residence)
    : tiers_(tiers),
      on_event_(std::move(on_event)),
      wall_clock_(std::move(wall_clock)),
      pool_(pool),
      tree_(tree),
      scopes_(scopes),
      residence_(residence) {
  if (!has_host()) return;
  queue_ = std::make_unique<TransferQueue>(
      TransferQueue::Tiers{.device = tiers.device, .host = tiers.host, .disk = tiers.disk}, *tiers.io, tiers.io_clock,
      tiers.on_transfer_done ? tiers.on_transfer_done : [] {});
}

void Tiering::Poll() {
  if (queue_ == nullptr) return;
  for (const auto& transfer : queue_->TakeDone()) Commit(*transfer);
  if (!has_disk()) return;
  Probe();
  KeepReserve();
  DrainWriteThrough();
  Remove();
}

void Tiering::Commit(const Transfer& transfer) {
  switch (transfer.kind) {
    case TransferKind::kLoad:
      return CommitLoad(transfer);
    case TransferKind::kStore:
      return CommitStore(transfer);
    case TransferKind::kRemove:
      return CommitRemoval(transfer);
    case TransferKind::kClear:
      return CommitClear(transfer);
    case TransferKind::kSync:
      return CommitSync(transfer);
    case TransferKind::kProbe:
      return CommitProbe(transfer);
  }
}

// --- records that are to go

void Tiering::Purged(std::string_view tenant) {
  if (has_disk() && !recovered_) unseen_purges_.emplace(tenant);
  EndEpoch();
}

void Tiering::Flushed() {
  if (has_disk()) removals_.AskClear();
  EndEpoch();
}

void Tiering::EndEpoch() {
  removals_.EndEpoch();
  urgent_ = has_disk();
}

// What somebody waits for is tried once even while the disk is off: one that is full still takes removals.
void Tiering::Remove() {
  const bool urgent = std::exchange(urgent_, false);
  if (!DiskUsable() && !urgent) return;
  SubmitClear();
  SubmitRemovals();
  SubmitSync();
}

void Tiering::SubmitChange(TransferKind kind, std::vector<TransferItem> items) {
  auto transfer = std::make_unique<Transfer>();
  transfer->kind = kind;
  transfer->items = std::move(items);
  ++changes_;
  queue_->Submit(std::move(transfer));
}

void Tiering::SubmitClear() {
  if (removals_.TakeClear()) SubmitChange(TransferKind::kClear);
}

// A clear needs no sync, and what it took along none either.
void Tiering::CommitClear(const Transfer& transfer) {
  --changes_;
  if (!transfer.status.ok()) {
    removals_.ClearAgain();
    ++counts_.disk_failures;
    writes_.Failed(residence_.now());
    Say("The disk tier is off: what was flushed could not be deleted, which is tried again", transfer.status);
    return;
  }
  removals_.ClearDone();
  durable_ = std::max(durable_, removals_.settled());
  recovered_ = true;
  unseen_purges_.clear();
  for (TierHealth* health : {&writes_, &reads_}) health->ProbeSoon();  // there is room now
}

// A record that could not be removed is removed later: until then it takes room, and is never a hit.
void Tiering::CommitRemoval(const Transfer& transfer) {
  --changes_;
  const absl::Status& status = transfer.items.front().status;
  for (const TransferItem& item : transfer.items) {
    if (status.ok()) {
      removals_.Done(item.epoch);
    } else {
      removals_.Again({item.from, item.epoch});
    }
  }
  if (status.ok()) {
    urgent_ = !DiskUsable();  // it takes removals all the same
    return;
  }
  ++counts_.disk_failures;
  DiskFailed(writes_, "writes to", status);
}

void Tiering::SubmitRemovals() {
  std::vector<TransferItem> items;
  for (const Removal& removal : removals_.Take()) {
    TransferItem item;
    item.from = removal.place;
    item.epoch = removal.epoch;
    items.push_back(std::move(item));
  }
  if (!items.empty()) SubmitChange(TransferKind::kRemove, std::move(items));
}

// A removal outlives the process at once, but the loss of power only after a sync.
void Tiering::SubmitSync() {
  if (!RemovalsPending() || syncing_ || removals_.settled() <= durable_) return;
  syncing_ = removals_.settled();
  SubmitChange(TransferKind::kSync);
}

void Tiering::CommitSync(const Transfer& transfer) {
  --changes_;
  const RemovalEpoch synced = *std::exchange(syncing_, std::nullopt);
  if (transfer.status.ok()) {
    durable_ = std::max(durable_, synced);
    return;
  }
  ++counts_.disk_failures;
  DiskFailed(writes_, "writes to", transfer.status);
}

// --- health

void Tiering::DiskFailed(TierHealth& health, std::string_view what, const absl::Status& status) {
  if (health.Failed(residence_.now())) {
    Say(fmt::format("The disk tier is off: {} it fail. Requests go on without it, and it is tried again", what),
        status);
  }
}

void Tiering::Probe() {
  const AgeMs now = residence_.now();
  const bool writes = writes_.ProbeDue(now);
  const bool reads = reads_.ProbeDue(now);
  if (!writes && !reads) return;
  auto transfer = std::make_unique<Transfer>();
  transfer->kind = TransferKind::kProbe;
  queue_->Submit(std::move(transfer));
}

void Tiering::CommitProbe(const Transfer& transfer) {
  absl::Status status = transfer.status;
  if (status.ok() && !recovered_ && !removals_.clearing()) {
    // What is being removed must not come back: next time, then.
    status = changes_ > 0 ? absl::UnavailableError("records are being removed") : RebuildTree();
  }
  for (TierHealth* health : {&writes_, &reads_}) {
    if (health->on()) continue;
    if (status.ok()) {
      health->Recovered();
      Say("The disk tier is on again", absl::OkStatus());
    } else {
      health->Failed(residence_.now());
    }
  }
}

void Tiering::Say(std::string_view what, const absl::Status& status) const {
  if (!on_event_) return;
  const absl::string_view why = status.message();
  on_event_(status.ok() ? fmt::format("{}.", what)
                        : fmt::format("{}: {}", what, std::string_view(why.data(), why.size())));
}

// --- small things

PrefixKey Tiering::ParentKey(BlockId block) const {
  const auto before = tree_.Before(block);
  return before ? pool_[*before].key : RootKey(tiers_.fingerprint);
}

void Tiering::NameBlock(BlockId block) {
  if (!has_host()) return;
  Block& record = pool_[block];
  record.key = ChainKey(ParentKey(block), scopes_.Digest(record.node->scope.id()), tree_.TokensOf(block));
}

void Tiering::AddStats(PrefixStoreStats& stats) const {
  stats.ages = residence_.ages();
  stats.evicted_blocks = stats.ages.idle_before_eviction[static_cast<size_t>(TierKind::kDevice)].count();
  stats.transfers = counts_.transfers;
  stats.host_blocks = pool_.host().size();
  stats.host_used_blocks = pool_.host().size() - pool_.host().free();
  stats.disk_blocks = has_disk() ? tiers_.disk->capacity_blocks() : 0;
  stats.disk_used_blocks = disk_blocks_;
  stats.host_stored_blocks = counts_.host_stored_blocks;
  stats.host_loaded_blocks = counts_.host_loaded_blocks;
  stats.disk_loaded_blocks = counts_.disk_loaded_blocks;
  stats.disk_stored_blocks = counts_.disk_stored_blocks;
  stats.dropped_blocks = counts_.dropped_blocks;
  stats.bad_blocks = counts_.bad_blocks;
  stats.disk_failures = counts_.disk_failures;
  stats.disk_outages = writes_.outages() + reads_.outages();
  stats.disk_on = DiskUsable();
  stats.transfers_pending = queue_ == nullptr ? 0 : queue_->pending();
}

}  // namespace headstart
