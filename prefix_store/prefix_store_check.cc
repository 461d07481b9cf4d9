#include <vector>

#include "fmt/format.h"
#include "prefix_store/prefix_store_core.h"

namespace headstart {

absl::Status PrefixStoreCore::Check() const {
  std::vector<const InFlight::Claim*> claims;
  for (const SequenceState* sequence : running_) {
    if (sequence->claim != nullptr) claims.push_back(sequence->claim.get());
  }
  for (const absl::Status& status :
       {pool_.Check(), tree_.Check(), in_flight_.Check(claims), CheckLeases(), CheckEviction()}) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Every lease is a running sequence's, and what a sequence shares is in the tree.
absl::Status PrefixStoreCore::CheckLeases() const {
  std::vector<uint32_t> held(pool_.size(), 0);
  for (const SequenceState* sequence : running_) {
    for (const BlockId block : sequence->blocks) ++held[ToIndex(block)];
    if (sequence->copied) ++held[ToIndex(*sequence->copied)];
    for (size_t i = 0; i < sequence->blocks.size(); ++i) {
      if (sequence->slots[i] != pool_[sequence->blocks[i]].slot) return absl::InternalError("leases: a slot is wrong");
    }
  }
  for (uint32_t i = 0; i < held.size(); ++i) {
    const Block& block = pool_[BlockId{i}];
    if (held[i] == block.leases) continue;
    return absl::InternalError(fmt::format("leases: block {} counts {}, and {} hold it", i, block.leases, held[i]));
  }
  return absl::OkStatus();
}

absl::Status PrefixStoreCore::CheckEviction() const {
  int64_t leased = 0;
  for (uint32_t i = 0; i < pool_.size(); ++i) {
    const Block& block = pool_[BlockId{i}];
    const bool evictable = block.cached() && block.leases == 0;
    leased += block.leases > 0 ? 1 : 0;
    if (policy_->Contains(BlockId{i}) == evictable) continue;
    return absl::InternalError(fmt::format("eviction: block {} is {}tracked", i, evictable ? "not " : "wrongly "));
  }
  const int64_t counted = pool_.free_blocks() + policy_->size() + leased;
  if (counted == pool_.size()) return absl::OkStatus();
  return absl::InternalError(fmt::format("eviction: free {} + evictable {} + leased {} is not the pool's {}",
                                         pool_.free_blocks(), policy_->size(), leased, pool_.size()));
}

}  // namespace headstart
