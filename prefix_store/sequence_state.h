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
  std::vector<SlotIndex> slots;  // of the same blocks
  int64_t cached_tokens = 0;     // at acquisition
  MissReason miss_reason = MissReason::kNone;

  std::vector<BlockCopy> copies;
  std::optional<BlockId> copied;  // the source of the copy, held until CopiesDone

  int64_t tree_blocks = 0;                 // whole blocks at the start that are in the tree
  int64_t counted_tokens = 0;              // tokens at the start that were found, or counted as written, already
  std::unique_ptr<InFlight::Claim> claim;  // null when it announced nothing
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_SEQUENCE_STATE_H_
