// Ages in classes that grow with the age: two to an octave, from a quarter of a second to a week. Whether a block was
// used 10 or 14 minutes ago says little; whether it was 10 seconds or 10 minutes says much.
//
// Thread-safety: pure functions.

#ifndef HEADSTART_PREFIX_STORE_EVICTION_AGE_BUCKETS_H_
#define HEADSTART_PREFIX_STORE_EVICTION_AGE_BUCKETS_H_

#include <algorithm>
#include <array>
#include <cstdint>

namespace headstart {

inline constexpr int kAgeBuckets = 44;

// Below this, ages are not told apart: a machine's own pauses are as long.
inline constexpr int64_t kAgeResolutionMs = 256;

// Where each bucket begins; the first is [0, kAgeResolutionMs) and the last has no end.
inline constexpr std::array<int64_t, kAgeBuckets> kAgeBucketStartMs = [] {
  std::array<int64_t, kAgeBuckets> starts{};
  for (int i = 1; i < kAgeBuckets; ++i) {
    const int64_t octave = kAgeResolutionMs << ((i - 1) / 2);
    starts[i] = i % 2 == 1 ? octave : octave * 362 / 256;  // the square root of two
  }
  return starts;
}();

// Ages below zero count as zero.
inline int AgeBucket(int64_t age_ms) {
  const auto after = std::upper_bound(kAgeBucketStartMs.begin() + 1, kAgeBucketStartMs.end(), age_ms);
  return static_cast<int>(after - kAgeBucketStartMs.begin()) - 1;
}

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_EVICTION_AGE_BUCKETS_H_
