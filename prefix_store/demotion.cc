// The way down: what gives up its place, and for whom.

#include "prefix_store/tiering.h"

namespace headstart {
namespace {

bool Any(BlockId) { return true; }

}  // namespace

void Tiering::EvictDevice() {
  const BlockId victim = *residence_.Victim(TierKind::kDevice, Any);
  const Block& record = pool_[victim];
  residence_.Evicting(TierKind::kDevice, victim);
  // With a copy on disk alone it must not hide what lies below it in host memory.
  const auto may_leave_memory = [&] { return record.on_disk && tree_.IsLeafIn(Reach::kMemory, victim); };
  if (record.in_host() || DemoteToHost(victim) || may_leave_memory()) {
    residence_.LeaveDevice(victim);
    return;
  }
  if (has_host()) ++counts_.dropped_blocks;
  Forget(victim);
}

bool Tiering::DemoteToHost(BlockId block) {
  if (!has_host() || !MakeRoomInHost()) return false;
  residence_.TakeHost(block);
  if (CopyDown(block)) return true;
  residence_.LeaveHost(block);
  return false;
}

bool Tiering::CopyDown(BlockId block) {
  const Block& record = pool_[block];
  const BlockPlace from{record.key, record.device};
  const BlockPlace to{record.key, record.host};
  const auto writer = tiers_.host->NewWriter();
  const auto read =
      tiers_.device->Read({&from, 1}, [&](size_t, const BlockBytes& bytes) { writer->Add(to, {}, bytes); });
  if (!read.front().ok() || !writer->Commit().ok()) return false;
  ++counts_.host_stored_blocks;
  return true;
}

// The block least worth keeping goes, without a wait: if the disk has not got it by now, nobody will ever have it. One
// that takes nothing along goes before one with more of its prefix on disk.
bool Tiering::MakeRoomInHost() {
  if (residence_.free_host() > 0) return true;
  auto victim = residence_.Victim(TierKind::kHost, [this](BlockId block) {
    return pool_[block].on_device() || pool_[block].on_disk || tree_.IsLeaf(block);
  });
  if (!victim) victim = residence_.Victim(TierKind::kHost, Any);
  if (!victim) return false;
  residence_.Evicting(TierKind::kHost, *victim);
  const Block& record = pool_[*victim];
  if (record.on_device() || record.on_disk) {
    residence_.LeaveHost(*victim);
  } else {
    ++counts_.dropped_blocks;
    Forget(*victim);
  }
  return true;
}

bool Tiering::MakeRoomOnDisk(std::optional<BlockId> kept) {
  while (disk_blocks_ >= tiers_.disk->capacity_blocks()) {
    const auto victim = residence_.Victim(TierKind::kDisk, [&](BlockId block) { return block != kept; });
    if (!victim) return false;
    residence_.Evicting(TierKind::kDisk, *victim);
    const Block& record = pool_[*victim];
    if (record.on_device() || record.in_host()) {
      removals_.Ask({.key = record.key, .depth = record.depth});
      --disk_blocks_;
      residence_.LeaveDisk(*victim);
    } else {
      Forget(*victim);
    }
  }
  return true;
}

int64_t Tiering::Forget(BlockId block, std::optional<Gone> why) {
  int64_t unleased = 0;
  residence_.Forget(block, why, [&](BlockId forgotten) {
    LeftTree(forgotten);
    if (pool_[forgotten].leases == 0) ++unleased;
  });
  return unleased;
}

void Tiering::Drop(BlockId block) {
  LeftTree(block);
  residence_.Uncached(block);
}

void Tiering::LeftTree(BlockId block) {
  Block& record = pool_[block];
  if (!record.storing && !record.on_disk) return;
  removals_.Ask({.key = record.key, .depth = record.depth});
  if (!record.on_disk) return;  // what is being written counts until it has been
  record.on_disk = false;
  --disk_blocks_;
}

}  // namespace headstart
