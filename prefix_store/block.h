// Block: what the store knows of one block, wherever its bytes lie.
//
// A block is free (no holder, not in the tree), private (held by the sequence that fills it), cached (in the tree), or
// cached and leased. The lease count lives here and not in the tree's nodes, so that splitting a node moves no lease.
//
// The bytes of a cached block are in at least one tier. The tiers are nested along every path of the tree: first come
// the blocks that are on the device, then those that are in memory at all, then those on disk alone.

#ifndef HEADSTART_PREFIX_STORE_BLOCK_H_
#define HEADSTART_PREFIX_STORE_BLOCK_H_

#include <cstdint>
#include <limits>

#include "prefix_store/eviction/policy.h"
#include "prefix_store/prefix_key.h"
#include "prefix_store/tier/tier.h"
#include "prefix_store/types.h"

namespace headstart {

struct PrefixNode;

inline constexpr SlotIndex kNoSlot{std::numeric_limits<uint32_t>::max()};

// How near a block's bytes are: sets of tiers, each containing the one before it where memory is concerned.
enum class Reach : uint8_t {
  kDevice,  // on the device
  kMemory,  // on the device or in host memory
  kDisk,    // on disk or on its way there, whatever else
};
inline constexpr int kReaches = 3;

// A set of Reach, a bit for each.
using ReachSet = uint8_t;
constexpr ReachSet Only(Reach reach) { return static_cast<ReachSet>(1u << static_cast<int>(reach)); }

struct Block {
  PrefixNode* node = nullptr;  // where in the tree; null when it is not there
  uint64_t prefix_hash = 0;    // of all tokens from the sequence's start to this block's end, while in the tree
  PrefixKey key;               // likewise, for the disk; unset without one
  LastUse last_use;
  SlotIndex device = kNoSlot;
  SlotIndex host = kNoSlot;
  uint32_t leases = 0;     // sequences and pins that hold it
  uint32_t pins = 0;       // of those, the pins
  uint32_t hits = 0;       // acquisitions that found it
  uint32_t depth = 0;      // blocks before it in its sequence
  uint32_t expires = 0;    // second of the store's wall clock from which it counts as gone; 0 is never
  uint16_t transfers = 0;  // that read or write its bytes now
  int8_t priority = 0;     // the highest of those that used it
  bool on_disk = false;
  bool loading = false;   // its device slot is being filled by a transfer
  bool failed = false;    // its bytes did not come: the slot holds none
  bool storing = false;   // a transfer writes it to disk
  bool leaving = false;   // and takes it out of host memory when it is done: it counts as gone from there already
  bool expiring = false;  // the queue of those that expire has it
  uint8_t tracked = 0;    // tiers whose policy may choose it, a bit for each TierKind

  bool cached() const { return node != nullptr; }
  bool on_device() const { return device != kNoSlot; }
  bool in_host() const { return host != kNoSlot; }
  bool held() const { return leases > 0 || transfers > 0; }

  ReachSet reach() const {
    const bool memory = on_device() || (in_host() && !leaving);
    return static_cast<ReachSet>((on_device() ? Only(Reach::kDevice) : 0) | (memory ? Only(Reach::kMemory) : 0) |
                                 (on_disk || storing ? Only(Reach::kDisk) : 0));
  }
  bool Reaches(Reach reach) const { return (this->reach() & Only(reach)) != 0; }
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_BLOCK_H_
