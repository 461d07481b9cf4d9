#include "gateway/dashboard/time_histogram.h"

#include <algorithm>
#include <cmath>

namespace headstart {
namespace {

constexpr double kSmallestMs = 0.1;
constexpr double kGrowth = 1.25;

}  // namespace

void TimeHistogram::Add(absl::Duration duration) {
  const double ratio = std::max(absl::ToDoubleMilliseconds(duration) / kSmallestMs, 1.0);
  const auto bucket = static_cast<int>(std::log(ratio) / std::log(kGrowth));
  ++buckets_[static_cast<size_t>(std::clamp(bucket, 0, kBuckets - 1))];
  ++count_;
}

void TimeHistogram::Add(const TimeHistogram& other) {
  for (size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
}

absl::Duration TimeHistogram::Quantile(double quantile) const {
  if (count_ == 0) return absl::ZeroDuration();
  const auto rank = std::clamp<int64_t>(static_cast<int64_t>(quantile * static_cast<double>(count_)), 0, count_ - 1);
  int64_t below = 0;
  size_t bucket = 0;
  while (below + buckets_[bucket] <= rank) below += buckets_[bucket++];
  return absl::Milliseconds(kSmallestMs * std::pow(kGrowth, static_cast<double>(bucket) + 0.5));
}

}  // namespace headstart
