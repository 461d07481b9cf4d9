// SequenceState: what a SequenceBlocks stands for. See prefix_store.h for its contract.

#ifndef HEADSTART_PREFIX_STORE_SEQUENCE_STATE_H_
#define HEADSTART_PREFIX_STORE_SEQUENCE_STATE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "prefix_store/in_flight.h"
#include "prefix_store/prefix_store.h"
#include "prefix_store/scope_table.h"

namespace headstart {

struct SequenceState {
  PrefixStoreCore* store = nullptr;
  ScopeTable::Use scope;
  bool publishes = false;

  std::vector<BlockId> blocks;   // in token order, each held once
  std::vector<SlotIndex> slots;  // of the same blocks; once all is loaded
  int64_t reserved_blocks = 0;   // promised and not taken yet
  int64_t cached_tokens = 0;     // at acquisition
  TokensByTier by_tier;          // of those
  int8_t priority = 0;
  absl::Duration ttl = absl::InfiniteDuration();
  uint32_t keep = 1;        // the expiry that it gave to blocks so far; with a ttl alone
  int64_t path_blocks = 0;  // whole blocks at the start that were found at acquisition

  // What of the path, and of the block to copy from, was not on the device, in order; `loads_begun` of them have slots.
  std::vector<BlockId> loads;
  size_t loads_begun = 0;
  LoadState load_state = LoadState::kReady;
  MissReason miss_reason = MissReason::kNone;

  std::vector<BlockCopy> copies;
  std::optional<BlockId> copied;  // the source of the copy, held until CopiesDone
  int copied_tokens = 0;

  int64_t tree_blocks = 0;                 // whole blocks at the start that are in the tree
  int64_t counted_tokens = 0;              // tokens at the start that were found, or counted as written, already
  std::unique_ptr<InFlight::Claim> claim;  // null when it announced nothing
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_SEQUENCE_STATE_H_
