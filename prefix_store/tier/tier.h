// Tier: a place where the bytes of blocks can be: the device's pages, host memory, RocksDB. The store decides which
// block goes where; a tier holds bytes and gives them back, or says that it cannot.
//
// A block is addressed by slot in tiers that are memory (the store owns their slots), by key in those that are not.
// Bytes carry their checksum from the moment they leave the device: a tier stores it beside them and verifies it on
// every read, so damage done anywhere in between shows when they return.
//
// Thread-safety: Read may run on any number of threads at once, with each other and with a writer; one thread at a time
// writes, removes and probes, except that tiers which are memory let writers and removers of different slots run side
// by side. Nobody reads a slot that is being written: the store's leases see to it. Errors never abort and never lose
// what was stored before: NOT_FOUND (no such block), DATA_LOSS (the bytes are not those that were written, or not this
// block's), RESOURCE_EXHAUSTED (no space), UNAVAILABLE (an I/O failure).

#ifndef HEADSTART_PREFIX_STORE_TIER_TIER_H_
#define HEADSTART_PREFIX_STORE_TIER_TIER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "prefix_store/prefix_key.h"
#include "prefix_store/tier/block_meta.h"
#include "prefix_store/types.h"

namespace headstart {

// Fast to slow.
enum class TierKind : uint8_t { kDevice, kHost, kDisk };
inline constexpr int kTierKinds = 3;
std::string_view TierName(TierKind kind);  // "device", "host", "disk"

// Checksum of a block's bytes: XXH3-64 seeded with its key, so that another block's bytes do not pass for it.
uint64_t BlockChecksum(const PrefixKey& key, std::span<const std::byte> bytes);

// A block as a tier is asked for it.
struct BlockPlace {
  PrefixKey key;
  SlotIndex slot{};  // of tiers that are memory
  uint32_t depth =
      0;  // BlockMeta::depth; to Remove from a tier that is not memory, which keeps its records in this order
};

// Bytes on their way. Valid during the call that hands them over.
struct BlockBytes {
  std::span<const std::byte> bytes;  // block_bytes of them
  uint64_t checksum = 0;             // BlockChecksum of them, taken when they left the device
};

// Blocks being stored together. Those added are there after Commit returned OK, all of them; when it did not, none is.
// Destruction without Commit drops them.
class TierWriter {
 public:
  virtual ~TierWriter() = default;
  // `meta` is what a tier that outlives the process must know to find the block again; others ignore it.
  virtual void Add(const BlockPlace& place, const BlockMeta& meta, const BlockBytes& bytes) = 0;
  virtual absl::Status Commit() = 0;
};

class Tier {
 public:
  virtual ~Tier() = default;

  virtual TierKind kind() const = 0;

  // How many blocks it can hold. The store never has more in it.
  virtual int64_t capacity_blocks() const = 0;

  // How many blocks at most should be committed together: more would take memory or space that the tier would rather
  // not give. At least 1.
  virtual int64_t batch_blocks() const = 0;

  // Hands the bytes of each block to `sink`, in any order, once they are verified; a status for each, in order.
  // A block whose status is not OK was not handed over.
  virtual std::vector<absl::Status> Read(std::span<const BlockPlace> places,
                                         absl::FunctionRef<void(size_t index, const BlockBytes&)> sink) = 0;

  virtual std::unique_ptr<TierWriter> NewWriter() = 0;

  // Forgets blocks; one that is not there is no error.
  virtual absl::Status Remove(std::span<const BlockPlace> places) = 0;

  // Forgets every block that was committed before, for good: once it returned OK, nothing of them can be read again,
  // whatever happens to the process or the machine. Needs no space and gives back what they took. Whether anything can
  // be written afterwards shows at the next write. Reads that run beside it find their block or nothing. After another
  // status the blocks may be there, or not. Not for tiers that are memory.
  virtual absl::Status Clear() { return absl::UnimplementedError("this tier cannot be cleared"); }

  // What is there from before, every parent before its children. Stops when `visit` returns false.
  virtual absl::Status Recover(absl::FunctionRef<bool(const PrefixKey&, const BlockMeta&)> visit) = 0;

  // Returns when all that was committed would survive the loss of power.
  virtual absl::Status Sync() = 0;

  // After a failure: tries whether it works again.
  virtual absl::Status Probe() = 0;

  // Bytes taken now where they lie, by blocks and by whatever the tier needs beside them.
  virtual int64_t used_bytes() const = 0;

  // Calls `visit` with each figure worth watching.
  virtual void VisitCounters(absl::FunctionRef<void(std::string_view name, int64_t value)> visit) const = 0;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_TIER_TIER_H_
