// TierHealth: whether a tier that can fail is in use. After a failure it is off; from time to time it is tried again,
// ever more rarely while it goes on failing.
//
// Thread-safety: none; the scheduler thread's.
//
//   on ── Failed ──> off ── ProbeDue, after a pause ──> probed ── Recovered ──> on
//                     ^───────────── Failed, pause doubled ─────┘

#ifndef HEADSTART_PREFIX_STORE_TRANSFER_TIER_HEALTH_H_
#define HEADSTART_PREFIX_STORE_TRANSFER_TIER_HEALTH_H_

#include <algorithm>
#include <cstdint>

#include "prefix_store/eviction/policy.h"

namespace headstart {

class TierHealth {
 public:
  bool on() const { return on_; }

  // True when that turned it off: the moment to say so, once.
  bool Failed(AgeMs now) {
    const bool was_on = on_;
    on_ = false;
    probing_ = false;
    next_probe_ = AgeMs{static_cast<int64_t>(now) + pause_ms_};
    pause_ms_ = std::min(pause_ms_ * 2, kLongestPauseMs);
    if (was_on) ++outages_;
    return was_on;
  }

  // True once for each pause that has passed.
  bool ProbeDue(AgeMs now) {
    if (on_ || probing_ || now < next_probe_) return false;
    probing_ = true;
    return true;
  }

  void Recovered() {
    on_ = true;
    probing_ = false;
    pause_ms_ = kFirstPauseMs;
  }

  // Something has changed, maybe for the better: the next probe is due at once.
  void ProbeSoon() {
    next_probe_ = AgeMs{};
    pause_ms_ = kFirstPauseMs;
  }

  int64_t outages() const { return outages_; }

 private:
  // Long enough not to fill a log, short enough that a disk given space again is in use before anybody wonders.
  static constexpr int64_t kFirstPauseMs = 1'000;
  static constexpr int64_t kLongestPauseMs = 60'000;

  bool on_ = true;
  bool probing_ = false;
  AgeMs next_probe_{};
  int64_t pause_ms_ = kFirstPauseMs;
  int64_t outages_ = 0;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_TRANSFER_TIER_HEALTH_H_
