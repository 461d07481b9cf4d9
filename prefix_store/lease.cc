#include "prefix_store/lease.h"

namespace headstart {

void Leases::Lease(BlockId block) {
  Block& record = pool_[block];
  if (record.leases++ == 0) policy_.Untrack(block, UntrackReason::kLeased);
}

void Leases::Release(BlockId block) {
  Block& record = pool_[block];
  if (--record.leases > 0) return;
  if (record.cached()) {
    policy_.Track(block, FactsOf(block));
  } else {
    pool_.Free(block);
  }
}

void Leases::Uncached(BlockId block) {
  if (pool_[block].leases > 0) return;
  policy_.Untrack(block, UntrackReason::kDropped);
  pool_.Free(block);
}

void Leases::Take(int64_t count, std::vector<BlockId>& blocks) {
  for (int64_t i = 0; i < count; ++i) {
    if (pool_.free_blocks() == 0) EvictOne();
    blocks.push_back(pool_.Take());
  }
}

// The one place where a block leaves the device. With the device as the only tier its bytes are forgotten; a lower tier
// hooks in here, with a ticket that holds the slot until its bytes have been copied down.
void Leases::EvictOne() {
  const BlockId victim = *policy_.Victim(clock_(), [this](BlockId block) { return tree_.IsLeaf(block); });
  const Block& record = pool_[victim];
  ghosts_.Remember(scopes_.Salted(record.prefix_hash, record.node->scope.id()));
  policy_.Untrack(victim, UntrackReason::kEvicted);
  tree_.Remove(victim);
  pool_.Free(victim);
  ++evicted_blocks_;
}

BlockFacts Leases::FactsOf(BlockId block) const {
  const Block& record = pool_[block];
  return {.depth = record.depth,
          .hits = record.hits,
          .tokens = static_cast<int>(record.node->first_block().size()),  // equal in all blocks of a node
          .prefix_hash = record.prefix_hash,
          .last_use = record.last_use};
}

}  // namespace headstart
