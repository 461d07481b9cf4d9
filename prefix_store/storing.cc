// The way to disk. Blocks are written from host memory, whose bytes stand still while a transfer reads them.

#include <algorithm>
#include <utility>

#include "prefix_store/tiering.h"

namespace headstart {
namespace {

// Blocks in one transfer to disk: enough that a batch costs little beside its bytes.
constexpr size_t kStoreBatch = 16;

// Blocks on their way to disk at a time. They hold host slots, so it is also bounded by those.
constexpr int64_t kMaxStoring = 256;

// Found so often, a block is written without waiting for its eviction.
constexpr uint32_t kWriteThroughHits = 2;

}  // namespace

// A sixteenth of host memory, so that bursts of evictions find room; in a small arena all of it, which makes it a way
// to the disk and nothing else.
int64_t Tiering::Reserve() const {
  constexpr int64_t kSmallArena = 32;
  const int64_t slots = pool_.host().size();
  return std::max(slots / 16, std::min(slots, kSmallArena));
}

void Tiering::KeepReserve() {
  auto transfer = NewStore();
  while (MayStore() && residence_.free_host() + storing_blocks_ < Reserve()) {
    const auto victim = residence_.Victim(TierKind::kHost, [](BlockId) { return true; });
    if (!victim) break;
    const Block& record = pool_[*victim];
    const bool elsewhere = record.on_device() || record.on_disk;
    if (!elsewhere && !MakeRoomOnDisk(std::nullopt)) break;
    residence_.Evicting(TierKind::kHost, *victim);
    if (elsewhere) {
      residence_.LeaveHost(*victim);
      continue;
    }
    AddStore(*transfer, *victim, Leaving::kYes);
    if (transfer->items.size() == kStoreBatch) SubmitStore(std::exchange(transfer, NewStore()));
  }
  SubmitStore(std::move(transfer));
}

bool Tiering::IsFoundOften(const Block& block) { return block.hits >= kWriteThroughHits; }

void Tiering::WriteThrough(BlockId block) {
  if (has_disk() && !pool_[block].Reaches(Reach::kDisk)) write_through_.push_back(block);
}

void Tiering::DrainWriteThrough() {
  // Half the reserve stays for evictions.
  while (MayStore() && !write_through_.empty() && residence_.free_host() > Reserve() / 2) {
    const Block& record = pool_[write_through_.front()];
    const bool wanted = IsFoundOften(record) || record.pins > 0;
    const bool due = record.cached() && wanted && !record.Reaches(Reach::kDisk);
    if (due && !StorePath(write_through_.front())) return;
    if (!due || record.storing) write_through_.pop_front();
  }
}

int64_t Tiering::StoreAll() {
  if (!DiskUsable()) return 0;
  int64_t left = 0;
  tree_.ForEach([&](BlockId block) {
    const Block& record = pool_[block];
    if (!record.cached() || record.on_disk) return;
    if (MayStore() && !record.storing && residence_.free_host() > 0) StorePath(block);
    ++left;
  });
  return left;
}

// The blocks of the path down to `block` that no transfer has taken to disk yet, the top first.
std::vector<BlockId> Tiering::MissingOnDisk(BlockId block) const {
  std::vector<BlockId> missing;
  for (std::optional<BlockId> next = block; next && !pool_[*next].Reaches(Reach::kDisk); next = tree_.Before(*next)) {
    missing.push_back(*next);
  }
  std::reverse(missing.begin(), missing.end());
  return missing;
}

bool Tiering::StorePath(BlockId block) {
  const std::vector<BlockId> missing = MissingOnDisk(block);
  if (missing.empty() || !MakeRoomOnDisk(tree_.Before(missing.front()))) return false;
  auto transfer = NewStore();
  for (const BlockId next : missing) {
    const bool room = disk_blocks_ < tiers_.disk->capacity_blocks() && storing_blocks_ < kMaxStoring;
    if (!room || Grows(next) || transfer->items.size() == kStoreBatch || !Stage(next)) break;
    AddStore(*transfer, next, Leaving::kNo);
  }
  const bool any = !transfer->items.empty();
  SubmitStore(std::move(transfer));
  return any;
}

std::unique_ptr<Transfer> Tiering::NewStore() {
  auto transfer = std::make_unique<Transfer>();
  transfer->kind = TransferKind::kStore;
  return transfer;
}

void Tiering::AddStore(Transfer& transfer, BlockId block, Leaving leaving) {
  transfer.items.push_back(StoreItem(block));
  residence_.BeginStore(block, leaving);
  ++storing_blocks_;
  ++disk_blocks_;
}

void Tiering::SubmitStore(std::unique_ptr<Transfer> transfer) {
  if (transfer->items.empty()) return;
  SubmitRemovals();  // what made room goes first
  queue_->Submit(std::move(transfer));
}

// A running sequence still adds tokens to its last block, and what is written of it would be stale.
bool Tiering::Grows(BlockId block) const {
  return pool_[block].leases > pool_[block].pins && std::ssize(tree_.TokensOf(block)) < tree_.block_tokens();
}

bool Tiering::Stage(BlockId block) {
  if (pool_[block].in_host()) return true;
  if (!pool_[block].on_device() || pool_[block].loading || residence_.free_host() == 0) return false;
  residence_.TakeHost(block);
  if (CopyDown(block)) return true;
  residence_.LeaveHost(block);
  return false;
}

TransferItem Tiering::StoreItem(BlockId block) const {
  const Block& record = pool_[block];
  const TokenSpan tokens = tree_.TokensOf(block);
  TransferItem item;
  item.block = block;
  item.from = {record.key, record.host};
  item.to = {.key = record.key, .depth = record.depth};
  item.meta = {.parent = ParentKey(block),
               .scope = scopes_.Get(record.node->scope.id()),
               .tokens = {tokens.begin(), tokens.end()},
               .depth = record.depth,
               .hits = record.hits,
               .priority = record.priority,
               .expires = TimeOfExpiry(record.expires)};
  return item;
}

void Tiering::CommitStore(const Transfer& transfer) {
  counts_.transfers.disk_writes.Observe(absl::ToDoubleSeconds(transfer.elapsed));
  const TransferItem* failed = nullptr;
  for (const TransferItem& item : transfer.items) {
    --storing_blocks_;
    if (item.status.ok()) {
      Stored(item);
    } else {
      NotStored(item);
      if (failed == nullptr) failed = &item;
    }
  }
  if (failed == nullptr) return;
  ++counts_.disk_failures;
  DiskFailed(writes_, "writes to", failed->status);
}

void Tiering::Stored(const TransferItem& item) {
  const BlockId block = item.block;
  const Block& record = pool_[block];
  const bool wanted = record.cached() && record.key == item.to.key;
  ++counts_.disk_stored_blocks;
  if (!wanted) --disk_blocks_;  // it was forgotten meanwhile, and its removal is under way
  const bool leaves = record.leaving || record.on_device();
  residence_.EndStore(block, wanted);
  // A transfer that brings it up again may be reading it just now.
  if (wanted && leaves && record.in_host() && record.transfers == 0) residence_.LeaveHost(block);
}

// It stays in host memory, unless the block before it has left from there meanwhile.
void Tiering::NotStored(const TransferItem& item) {
  --disk_blocks_;
  const Block& record = pool_[item.block];
  const bool wanted = record.cached() && record.key == item.to.key;
  residence_.EndStore(item.block, false);
  if (!wanted) return;
  const auto before = tree_.Before(item.block);
  if (before && record.Reaches(Reach::kMemory) && !pool_[*before].Reaches(Reach::kMemory)) Forget(item.block);
}

}  // namespace headstart
