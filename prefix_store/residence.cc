#include "prefix_store/residence.h"

#include <utility>

#include "fmt/format.h"

namespace headstart {
namespace {

constexpr uint8_t Bit(TierKind tier) { return static_cast<uint8_t>(1u << static_cast<int>(tier)); }

constexpr Reach ReachOf(TierKind tier) {
  switch (tier) {
    case TierKind::kDevice:
      return Reach::kDevice;
    case TierKind::kHost:
      return Reach::kMemory;
    case TierKind::kDisk:
      return Reach::kDisk;
  }
  return Reach::kDisk;
}

// Of those that are forgotten: whether for lack of room or by age, and not because somebody said so.
bool TimeIsOver(std::optional<Gone> why) { return why == Gone::kEvicted || why == Gone::kExpired; }

constexpr TierKind kAllTiers[] = {TierKind::kDevice, TierKind::kHost, TierKind::kDisk};

}  // namespace

// --- holders

void Residence::Lease(BlockId block) {
  if (pool_[block].leases++ == 0) Update(block, UntrackReason::kLeased);
}

void Residence::Release(BlockId block) {
  Block& record = pool_[block];
  if (--record.leases > 0) return;
  Update(block, UntrackReason::kLeased);
  FreeIfUnused(block);
}

void Residence::Keep(BlockId block, uint32_t expires, int8_t priority) {
  Block& record = pool_[block];
  record.priority = std::max(record.priority, priority);
  if (record.expires == kNever) return;
  const bool queued = record.expiring;
  if (queued) expiring_.Remove(block, record);
  record.expires = LaterExpiry(record.expires, expires);
  record.expiring = false;
  if (queued) UpdateExpiry(block);
}

void Residence::BeginLoad(BlockId block) {
  Move(block, UntrackReason::kLeased, [&](Block& record) {
    pool_.TakeDevice(record);
    record.loading = true;
    ++record.transfers;
  });
}

void Residence::EndLoad(BlockId block) {
  Move(block, UntrackReason::kLeased, [](Block& record) {
    record.loading = false;
    --record.transfers;
  });
  FreeIfUnused(block);
}

void Residence::BeginStore(BlockId block, Leaving leaving) {
  Move(block, UntrackReason::kLeased, [&](Block& record) {
    record.storing = true;
    record.leaving = leaving == Leaving::kYes;
    ++record.transfers;
  });
}

void Residence::EndStore(BlockId block, bool stored) {
  Move(block, UntrackReason::kLeased, [&](Block& record) {
    record.storing = false;
    record.leaving = false;
    record.on_disk = stored;
    --record.transfers;
  });
  FreeIfUnused(block);
}

// --- places

// Changes where a block is, and tells whoever keeps account of that.
template <typename Change>
void Residence::Move(BlockId block, UntrackReason reason, Change change) {
  Block& record = pool_[block];
  const ReachSet before = record.reach();
  const bool was_copy = record.in_host() && record.on_device();
  change(record);
  if (record.cached()) tree_.ReachChanged(block, before);
  // A copy waits in another queue than an only one.
  if (was_copy != (record.in_host() && record.on_device())) Untrack(block, TierKind::kHost, reason);
  Update(block, reason);
}

void Residence::TakeHost(BlockId block) {
  Move(block, UntrackReason::kLeased, [&](Block& record) { pool_.TakeHost(record); });
}

// A copy in host memory that was about to leave from there, until a load brought the block up, is the nearest one again
// and stays: blocks below it may be in host memory, too.
void Residence::LeaveDevice(BlockId block) {
  Move(block, UntrackReason::kEvicted, [&](Block& record) {
    pool_.GiveDevice(record);
    record.leaving = false;
  });
}

void Residence::LeaveHost(BlockId block) {
  Move(block, UntrackReason::kEvicted, [&](Block& record) { pool_.GiveHost(record); });
}

void Residence::LeaveDisk(BlockId block) {
  Move(block, UntrackReason::kEvicted, [](Block& record) { record.on_disk = false; });
}

void Residence::MoveDevice(BlockId from, BlockId to) {
  Move(to, UntrackReason::kLeased, [&](Block& record) { record.device = std::exchange(pool_[from].device, kNoSlot); });
}

// --- the end

std::optional<BlockId> Residence::Victim(TierKind tier, absl::FunctionRef<bool(BlockId)> may_go) {
  const auto leaf = [&](BlockId block) { return tree_.IsLeafIn(ReachOf(tier), block) && may_go(block); };
  if (tier == TierKind::kHost) {
    if (const auto copy = host_copies_.FirstFromOldest(may_go)) return copy;
  }
  return policy(tier).Victim(now(), leaf);
}

void Residence::Forget(BlockId block, std::optional<Gone> why, absl::FunctionRef<void(BlockId)> forgotten) {
  const std::vector<BlockId> subtree = tree_.Subtree(block);
  for (auto next = subtree.rbegin(); next != subtree.rend(); ++next) {
    const Block& record = pool_[*next];
    if (TimeIsOver(why) && BlockAges::KeepsBirth(*next)) ages_.Died(*next, now());
    if (why) ghosts_.Remember(scopes_.Salted(record.prefix_hash, record.node->scope.id()), *why);
    tree_.Remove(*next);
    forgotten(*next);
    Uncached(*next);
  }
}

void Residence::Cached(BlockId block) {
  if (BlockAges::KeepsBirth(block)) ages_.Born(block, now());
  Update(block, UntrackReason::kLeased);
}

void Residence::Found(std::span<const BlockId> blocks) {
  const AgeMs now = this->now();
  for (const BlockId block : blocks) ages_.Found(pool_[block], now);
}

void Residence::Uncached(BlockId block) {
  Update(block, UntrackReason::kDropped);
  FreeIfUnused(block);
}

void Residence::Reset() {
  for (const auto& policy : policies_) policy->Reset();
  host_copies_.Clear();
  expiring_.Clear();
  for (uint32_t id = 0; id < pool_.records(); ++id) {
    pool_[BlockId{id}].tracked = 0;
    pool_[BlockId{id}].expiring = false;
  }
}

// A transfer that still writes it to disk reads it from host memory.
void Residence::FreeIfUnused(BlockId block) {
  Block& record = pool_[block];
  if (record.cached() || record.leases > 0) return;
  if (record.transfers == 0) {
    pool_.Free(block);
  } else if (!record.loading) {
    pool_.GiveDevice(record);
  }
}

// --- what may go

bool Residence::MayBeTracked(const Block& block, TierKind tier) const {
  if (!block.cached() || (tier != TierKind::kDevice && block.transfers > 0)) return false;
  switch (tier) {
    case TierKind::kDevice:
      return block.on_device() && !block.loading && block.leases == 0;
    case TierKind::kHost:  // a copy may go under those who use the original
      return block.in_host() && (block.on_device() || block.leases == 0);
    case TierKind::kDisk:
      return block.on_disk && block.leases == 0;
  }
  return false;
}

void Residence::Update(BlockId block, UntrackReason reason) {
  const Block& record = pool_[block];
  if (record.expires != kNever) UpdateExpiry(block);
  for (const TierKind tier : kAllTiers) {
    const bool may = MayBeTracked(record, tier);
    if (may == ((record.tracked & Bit(tier)) != 0)) continue;
    if (may) {
      Track(block, tier, record.on_device());
    } else {
      Untrack(block, tier, reason);
    }
  }
}

void Residence::UpdateExpiry(BlockId block) {
  Block& record = pool_[block];
  const bool may = record.cached() && record.leases == 0 && record.expires != kNever;
  if (may == record.expiring) return;
  record.expiring = may;
  if (may) {
    expiring_.Add(block, record);
  } else {
    expiring_.Remove(block, record);
  }
}

void Residence::Track(BlockId block, TierKind tier, bool copy) {
  pool_[block].tracked |= Bit(tier);
  if (tier == TierKind::kHost && copy) {
    host_copies_.PushNewest(block);
  } else {
    policy(tier).Track(block, FactsOf(block));
  }
}

void Residence::Untrack(BlockId block, TierKind tier, UntrackReason reason) {
  Block& record = pool_[block];
  if ((record.tracked & Bit(tier)) == 0) return;
  record.tracked = static_cast<uint8_t>(record.tracked & ~Bit(tier));
  if (tier == TierKind::kHost && host_copies_.Contains(block)) {
    host_copies_.Remove(block);
  } else {
    policy(tier).Untrack(block, reason);
  }
}

BlockFacts Residence::FactsOf(BlockId block) const {
  const Block& record = pool_[block];
  BlockFacts facts{.depth = record.depth,
                   .hits = record.hits,
                   .priority = record.priority,
                   .tokens = static_cast<int>(tree_.TokensOf(block).size()),
                   .prefix_hash = record.prefix_hash,
                   .last_use = record.last_use};
  return facts;
}

absl::Status Residence::Check() const {
  if (absl::Status status = CheckExpiry(); !status.ok()) return status;
  for (uint32_t id = 0; id < pool_.records(); ++id) {
    const Block& block = pool_[BlockId{id}];
    const bool somewhere = (block.on_device() && !block.loading) || block.in_host() || block.on_disk;
    if (block.cached() && !somewhere) {
      return absl::InternalError(fmt::format("residence: block {} is cached and its bytes are in no tier", id));
    }
    for (const TierKind tier : kAllTiers) {
      if (absl::Status status = CheckTier(BlockId{id}, tier); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

// The queue holds what may expire, and no block expires before one that hangs on it.
absl::Status Residence::CheckExpiry() const {
  int64_t expiring = 0;
  for (uint32_t id = 0; id < pool_.records(); ++id) {
    const Block& block = pool_[BlockId{id}];
    const bool may = block.cached() && block.leases == 0 && block.expires != kNever;
    if (block.expiring != may || (may && !expiring_.Contains(BlockId{id}, block))) {
      return absl::InternalError(fmt::format("expiry: block {} is {}in the queue", id, may ? "not " : "wrongly "));
    }
    expiring += may ? 1 : 0;
    const auto before = block.cached() ? tree_.Before(BlockId{id}) : std::nullopt;
    if (!before || pool_[*before].leases > 0) continue;
    if (LaterExpiry(block.expires, pool_[*before].expires) != pool_[*before].expires) {
      return absl::InternalError(fmt::format("expiry: block {} expires after the one before it", id));
    }
  }
  if (expiring == expiring_.size()) return absl::OkStatus();
  return absl::InternalError(fmt::format("expiry: {} blocks may expire, {} are queued", expiring, expiring_.size()));
}

absl::Status Residence::CheckTier(BlockId id, TierKind tier) const {
  const Block& block = pool_[id];
  const bool may = MayBeTracked(block, tier);
  const bool copy = tier == TierKind::kHost && block.on_device();
  const bool tracked = copy ? host_copies_.Contains(id) : policy(tier).Contains(id);
  if (tracked == may && ((block.tracked & Bit(tier)) != 0) == may) return absl::OkStatus();
  return absl::InternalError(
      fmt::format("eviction: block {} is {}tracked on {}", ToIndex(id), may ? "not " : "wrongly ", TierName(tier)));
}

}  // namespace headstart
