// Block: what the store knows of one block, wherever its bytes lie.
//
// A block is free (no holder, not in the tree), private (held by the sequence that fills it), cached (in the tree), or
// cached and leased. The lease count lives here and not in the tree's nodes, so that splitting a node moves no lease.

#ifndef HEADSTART_PREFIX_STORE_BLOCK_H_
#define HEADSTART_PREFIX_STORE_BLOCK_H_

#include <cstdint>

#include "prefix_store/eviction/policy.h"
#include "prefix_store/types.h"

namespace headstart {

struct PrefixNode;

struct Block {
  PrefixNode* node = nullptr;  // where in the tree; null when it is not there
  uint64_t prefix_hash = 0;    // of all tokens from the sequence's start to this block's end, while in the tree
  LastUse last_use = {};
  SlotIndex slot{};
  uint32_t leases = 0;  // sequences that hold it
  uint32_t hits = 0;    // acquisitions that found it
  uint32_t depth = 0;   // blocks before it in its sequence

  bool cached() const { return node != nullptr; }
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_BLOCK_H_
