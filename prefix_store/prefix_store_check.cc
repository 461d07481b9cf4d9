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
       {pool_.Check(), tree_.Check(), in_flight_.Check(claims), CheckLeases(), residence_.Check(), CheckSlots()}) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Every lease is a running sequence's or a pin's, and what a sequence shares is in the tree.
absl::Status PrefixStoreCore::CheckLeases() const {
  std::vector<uint32_t> held(pool_.records(), 0);
  for (const SequenceState* sequence : running_) {
    if (const absl::Status status = CheckHeld(*sequence, held); !status.ok()) return status;
  }
  if (const absl::Status status = CheckPins(held); !status.ok()) return status;
  for (uint32_t i = 0; i < held.size(); ++i) {
    const Block& block = pool_[BlockId{i}];
    if (held[i] == block.leases) continue;
    return absl::InternalError(fmt::format("leases: block {} counts {}, and {} hold it", i, block.leases, held[i]));
  }
  return absl::OkStatus();
}

absl::Status PrefixStoreCore::CheckPins(std::vector<uint32_t>& held) const {
  std::vector<uint32_t> pins(pool_.records(), 0);
  for (const PinState* pin : pins_) {
    for (const BlockId block : pin->blocks) ++pins[ToIndex(block)];
  }
  int64_t pinned = 0;
  for (uint32_t i = 0; i < pins.size(); ++i) {
    const Block& block = pool_[BlockId{i}];
    if (pins[i] != block.pins) return absl::InternalError("pins: a block counts other pins than those that hold it");
    if (pins[i] > 0 && (!block.on_device() || block.loading)) {
      return absl::InternalError("pins: a pinned block is not on the device");
    }
    pinned += pins[i] > 0 ? 1 : 0;
    held[i] += pins[i];
  }
  if (pinned == pinned_blocks_) return absl::OkStatus();
  return absl::InternalError(fmt::format("pins: {} blocks are pinned, counted {}", pinned, pinned_blocks_));
}

absl::Status PrefixStoreCore::CheckHeld(const SequenceState& sequence, std::vector<uint32_t>& held) const {
  for (size_t i = 0; i < sequence.blocks.size(); ++i) {
    const Block& block = pool_[sequence.blocks[i]];
    ++held[ToIndex(sequence.blocks[i])];
    if (i < sequence.slots.size() && (sequence.slots[i] != block.device || !block.on_device())) {
      return absl::InternalError("leases: a slot is wrong");
    }
  }
  if (sequence.copied) ++held[ToIndex(*sequence.copied)];
  return absl::OkStatus();
}

absl::Status PrefixStoreCore::CheckSlots() const {
  int64_t leased = 0;
  for (uint32_t i = 0; i < pool_.records(); ++i) {
    const Block& block = pool_[BlockId{i}];
    if (block.on_device() && (block.leases > 0 || block.loading)) ++leased;
  }
  if (Available() < 0) return absl::InternalError("eviction: more is reserved than could be had");
  const int64_t counted = residence_.free_device() + residence_.evictable_device() + leased;
  if (counted == pool_.device().size()) return absl::OkStatus();
  return absl::InternalError(fmt::format("eviction: free {} + evictable {} + leased {} is not the pool's {}",
                                         residence_.free_device(), residence_.evictable_device(), leased,
                                         pool_.device().size()));
}

}  // namespace headstart
