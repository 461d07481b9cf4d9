// Removals: the disk records that are to go, and what of that is still to be done before a purge can be called
// complete.
//
// Every removal belongs to the epoch in which it was asked for. A purge ends an epoch; it is complete when all removals
// of that epoch and those before have been carried out and have outlived a sync. A flush asks for all there is at once:
// until that is done, nothing may be stored.
//
// Thread-safety: none; the scheduler thread's.

#ifndef HEADSTART_PREFIX_STORE_REMOVALS_H_
#define HEADSTART_PREFIX_STORE_REMOVALS_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "prefix_store/tier/tier.h"
#include "prefix_store/types.h"

namespace headstart {

enum class RemovalEpoch : uint64_t {};

struct Removal {
  BlockPlace place;
  RemovalEpoch epoch{};
};

class Removals {
 public:
  // To be taken before anything further is written: of a block that is forgotten and stored anew, the old record goes
  // and the new one stays. One that is still being written may be asked for already, since writes and removals are
  // carried out in the order in which they were begun.
  void Ask(const BlockPlace& place) {
    ++open_[epoch_];
    due_.push_back({place, epoch_});
  }

  // Those that can begin now. Each of them is to come back, as done or to be done again.
  std::vector<Removal> Take() { return std::exchange(due_, {}); }
  const std::vector<Removal>& due() const { return due_; }
  void Again(const Removal& removal) { due_.push_back(removal); }
  void Done(RemovalEpoch epoch) {
    const auto open = open_.find(epoch);
    if (--open->second == 0) open_.erase(open);
  }

  // Everything is to go. What was asked for before is part of it.
  void AskClear() {
    const RemovalEpoch oldest = settled();
    DropDue();
    if (clear_) return;
    clear_ = oldest;
    clear_due_ = true;
    ++open_[oldest];
  }
  bool clearing() const { return clear_.has_value(); }

  // True when that can begin now: it is to come back, as done or to be done again.
  bool TakeClear() { return std::exchange(clear_due_, false); }
  void ClearAgain() { clear_due_ = true; }
  void ClearDone() {
    DropDue();
    Done(*std::exchange(clear_, std::nullopt));
  }

  void EndEpoch() { epoch_ = RemovalEpoch{static_cast<uint64_t>(epoch_) + 1}; }
  RemovalEpoch epoch() const { return epoch_; }

  // All removals of the epochs before this one have been carried out.
  RemovalEpoch settled() const { return open_.empty() ? epoch_ : open_.begin()->first; }

 private:
  void DropDue() {
    for (const Removal& removal : Take()) Done(removal.epoch);
  }

  RemovalEpoch epoch_{};
  std::vector<Removal> due_;
  std::optional<RemovalEpoch> clear_;  // the oldest epoch that it completes
  bool clear_due_ = false;
  absl::btree_map<RemovalEpoch, int64_t> open_;  // how many of each are not done
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_REMOVALS_H_
