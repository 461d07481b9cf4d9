// LoadAdvisor: whether bringing blocks up from a tier takes less time than computing them again, from what both took
// lately.
//
// Thread-safety: none; the scheduler thread's.
//
// Both are linear in the number of blocks, so it pays to load all that a tier has of a prefix or none of it. Loading n
// blocks takes what waits in front of them, plus n times the tier's seconds a block; computing them n times the
// model's. A figure is an average in which each new observation counts a quarter. A tier that is not used is not
// measured either: each time it is turned down its figure sinks a little, so that it is tried again in the end. What
// was never measured counts as free: it gets its first observation that way.

#ifndef HEADSTART_PREFIX_STORE_TRANSFER_LOAD_ADVISOR_H_
#define HEADSTART_PREFIX_STORE_TRANSFER_LOAD_ADVISOR_H_

#include <array>
#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "prefix_store/tier/tier.h"

namespace headstart {

class LoadAdvisor {
 public:
  // A step computed `tokens` tokens of prompts and did little else.
  void Computed(int64_t tokens, absl::Duration elapsed) { seconds_per_token_.Add(elapsed, tokens); }

  void Loaded(TierKind tier, int64_t blocks, absl::Duration elapsed) { At(tier).Add(elapsed, blocks); }

  // `queued_blocks` are under way from that tier already.
  bool Pays(TierKind tier, int64_t blocks, int64_t tokens, int64_t queued_blocks) {
    Average& load = At(tier);
    if (!seconds_per_token_.value || !load.value) return true;
    const bool pays = *load.value * static_cast<double>(blocks + queued_blocks) <
                      *seconds_per_token_.value * static_cast<double>(tokens);
    if (!pays) *load.value *= kFading;
    return pays;
  }

  // Zero while unknown.
  double seconds_per_token() const { return seconds_per_token_.value.value_or(0); }
  double seconds_per_block(TierKind tier) const { return At(tier).value.value_or(0); }

 private:
  // After being turned down seventy times, a tier's figure has halved.
  static constexpr double kFading = 0.99;

  struct Average {
    std::optional<double> value;
    void Add(absl::Duration elapsed, int64_t count) {
      if (count <= 0) return;
      const double seconds = absl::ToDoubleSeconds(elapsed) / static_cast<double>(count);
      value = value ? *value + (seconds - *value) / 4 : seconds;
    }
  };

  Average& At(TierKind tier) { return seconds_per_block_[static_cast<size_t>(tier)]; }
  const Average& At(TierKind tier) const { return seconds_per_block_[static_cast<size_t>(tier)]; }

  Average seconds_per_token_;
  std::array<Average, kTierKinds> seconds_per_block_;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_TRANSFER_LOAD_ADVISOR_H_
