// SecondsHistogram: how often a length of time fell into which range. A plain value of fixed size: no allocation.
//
// Thread-safety: none.

#ifndef HEADSTART_PREFIX_STORE_SECONDS_HISTOGRAM_H_
#define HEADSTART_PREFIX_STORE_SECONDS_HISTOGRAM_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>

namespace headstart {

class SecondsHistogram {
 public:
  static constexpr size_t kMaxBounds = 15;

  // Upper bounds in seconds, ascending and constant; what is above the last is counted, too. REQUIRES: no more than
  // kMaxBounds.
  explicit constexpr SecondsHistogram(std::span<const double> bounds) : bounds_(bounds) {}

  void Observe(double seconds, int64_t times = 1) {
    const auto bucket = std::lower_bound(bounds_.begin(), bounds_.end(), seconds) - bounds_.begin();
    counts_[static_cast<size_t>(bucket)] += times;
    sum_ += seconds * static_cast<double>(times);
  }

  std::span<const double> bounds() const { return bounds_; }

  // One for each bound, and one for what is above the last.
  std::span<const int64_t> counts() const { return std::span(counts_).first(bounds_.size() + 1); }

  int64_t count() const { return std::accumulate(counts_.begin(), counts_.end(), int64_t{0}); }
  double sum_seconds() const { return sum_; }

 private:
  std::span<const double> bounds_;
  std::array<int64_t, kMaxBounds + 1> counts_ = {};
  double sum_ = 0;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_SECONDS_HISTOGRAM_H_
