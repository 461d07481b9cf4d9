// BlockAges: how long cached blocks live, how long they rest before they are evicted, and after how long they are found
// again: what tells whoever sizes the tiers whether more room would bring more hits.
//
// Thread-safety: none; the scheduler thread's. Times are the store's clock's.
// Cost: a few nanoseconds an observation. Births are kept of one block in kBirthSample: a record of each would cost as
// much memory as it is worth.

#ifndef HEADSTART_PREFIX_STORE_BLOCK_AGES_H_
#define HEADSTART_PREFIX_STORE_BLOCK_AGES_H_

#include <cstdint>
#include <vector>

#include "prefix_store/block.h"
#include "prefix_store/prefix_store_stats.h"
#include "prefix_store/tier/tier.h"
#include "prefix_store/types.h"

namespace headstart {

class BlockAges {
 public:
  static constexpr uint32_t kBirthSample = 64;
  static constexpr bool KeepsBirth(BlockId block) { return ToIndex(block) % kBirthSample == 0; }

  // To be called for those that KeepsBirth.
  void Born(BlockId block, AgeMs now) {
    const size_t index = ToIndex(block) / kBirthSample;
    if (births_.size() <= index) births_.resize(index + 1);
    births_[index] = now;
  }
  // REQUIRES: it was born.
  void Died(BlockId block, AgeMs now) {
    histograms_.lifetime.Observe(Seconds(births_[ToIndex(block) / kBirthSample], now));
  }

  void Found(const Block& block, AgeMs now) {
    if (block.leases == 0) histograms_.reuse_gap.Observe(Seconds(block.last_use.at, now));
  }
  void Evicted(TierKind tier, const Block& block, AgeMs now) {
    histograms_.idle_before_eviction[static_cast<size_t>(tier)].Observe(Seconds(block.last_use.at, now));
  }

  const BlockAgeHistograms& histograms() const { return histograms_; }

 private:
  static double Seconds(AgeMs since, AgeMs now) {
    return static_cast<double>(static_cast<int64_t>(now) - static_cast<int64_t>(since)) / 1000;
  }

  std::vector<AgeMs> births_;  // by id, of every kBirthSample-th
  BlockAgeHistograms histograms_;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_BLOCK_AGES_H_
