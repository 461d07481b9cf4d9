// TimeHistogram: durations counted in buckets whose bounds grow by a quarter, from a tenth of a millisecond to ten
// minutes: quantiles within 12%, in a few hundred bytes.
//
// Thread-safety: a plain value.

#ifndef HEADSTART_GATEWAY_DASHBOARD_TIME_HISTOGRAM_H_
#define HEADSTART_GATEWAY_DASHBOARD_TIME_HISTOGRAM_H_

#include <array>
#include <cstdint>

#include "absl/time/time.h"

namespace headstart {

class TimeHistogram {
 public:
  void Add(absl::Duration duration);
  void Add(const TimeHistogram& other);

  int64_t count() const { return count_; }

  // The middle of the bucket that holds the value below which the share `quantile` lies. Zero when there is none.
  absl::Duration Quantile(double quantile) const;

 private:
  // 0.1 ms × 1.25^70 is ten minutes.
  static constexpr int kBuckets = 71;

  std::array<uint32_t, kBuckets> buckets_ = {};
  int64_t count_ = 0;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_DASHBOARD_TIME_HISTOGRAM_H_
