// TransferQueue: blocks on their way between tiers. The store hands in transfers, I/O threads carry them out, and the
// store takes the results back when it is ready to: until then nothing that a transfer touches may move.
//
// Order: transfers that write to, remove from or clear the disk run one after the other, in the order in which they
// came; those that read run beside them and beside each other. So a block is never read by a transfer that was handed
// in before the one that writes it had been taken back. Loads may write to the device side by side, each to slots of
// its own.
//
// Thread-safety: Submit and TakeDone are one thread's (the scheduler's); the work runs where the executor puts it.
// Ownership: tiers and executor outlive the queue; its destructor waits for what runs and drops what has not begun.
// A transfer never fails as a whole: it has a status for each of its blocks. It is carried out in batches that the
// receiving tier can take (Tier::batch_blocks); once a batch cannot be written, the blocks after it are not tried and
// have its status, so that of a store in order the blocks that failed to be written are a tail.

#ifndef HEADSTART_PREFIX_STORE_TRANSFER_TRANSFER_QUEUE_H_
#define HEADSTART_PREFIX_STORE_TRANSFER_TRANSFER_QUEUE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "prefix_store/removals.h"
#include "prefix_store/tier/tier.h"
#include "prefix_store/transfer/io_executor.h"
#include "prefix_store/types.h"

namespace headstart {

// One block of a transfer.
struct TransferItem {
  BlockId block{};       // the store's name of it, handed back with the result
  BlockPlace from;       // kRemove: what to remove
  BlockPlace to;         // unused by kRemove
  BlockMeta meta;        // for a tier that outlives the process
  RemovalEpoch epoch{};  // kRemove: the store's note of when it was asked for
  absl::Status status;   // the result
};

enum class TransferKind : uint8_t {
  kLoad,    // up, to the device
  kStore,   // down, to disk
  kRemove,  // from disk
  kClear,   // no blocks: everything from disk
  kSync,    // no blocks: what was done before it outlives the loss of power
  kProbe,   // no blocks: asks the disk whether it works again
};

struct Transfer {
  TransferKind kind = TransferKind::kLoad;
  TierKind tier = TierKind::kDisk;  // the slower side
  std::vector<TransferItem> items;
  absl::Status status;     // of a clear, a sync or a probe
  absl::Duration elapsed;  // of the work itself, without the wait for a thread
};

class TransferQueue {
 public:
  struct Tiers {
    Tier* device = nullptr;
    Tier* host = nullptr;  // null without one
    Tier* disk = nullptr;  // null without one
  };

  // `on_done` is called from I/O threads after each transfer, to wake whoever calls TakeDone. `now` is read on them.
  TransferQueue(const Tiers& tiers, IoExecutor& executor, std::function<absl::Time()> now,
                std::function<void()> on_done);
  ~TransferQueue();
  TransferQueue(const TransferQueue&) = delete;
  TransferQueue& operator=(const TransferQueue&) = delete;

  void Submit(std::unique_ptr<Transfer> transfer);

  // Those that are done, in the order in which they ended.
  std::vector<std::unique_ptr<Transfer>> TakeDone();

  // Handed in and not taken back: none, and nothing the store owns is in use elsewhere.
  int64_t pending() const { return pending_; }

 private:
  struct Shared;
  IoExecutor& executor_;
  const std::shared_ptr<Shared> shared_;
  int64_t pending_ = 0;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_TRANSFER_TRANSFER_QUEUE_H_
