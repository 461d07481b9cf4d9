// ReuseStatistics: how likely a block of some class is to be used again as it ages, and what keeping it is worth.
//
// What is known is counted: how many blocks of each class came to each age unused, and how many of those were used
// within that age's bucket. Their quotient, over all classes of a family, is the family's hazard at that age; a class
// differs from its family by a factor for each span of ages, held near that of its group, and the group's near one, in
// so far as there is little evidence. So a class that was hardly seen behaves like its group, and before anything was
// seen, all behave alike: the older, the less worth keeping, which is LRU.
//
// The worth of a block is the best, over all horizons, of
//
//     chance of a use before the horizon / expected time until the use or the horizon
//
// that is, hits to be had for each block and second of memory: what a cache of fixed size should keep most of. Taking
// the best horizon is what lets a block survive the time in which nobody comes back yet (a reader needs a minute for an
// answer), and go when that time has passed.
//
// Thread-safety: none.

#ifndef HEADSTART_PREFIX_STORE_EVICTION_REUSE_STATISTICS_H_
#define HEADSTART_PREFIX_STORE_EVICTION_REUSE_STATISTICS_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "prefix_store/eviction/age_buckets.h"

namespace headstart {

// Where a class belongs. Families differ in how reuse depends on age; groups of a family in how much there is of it.
struct ReuseClassPlace {
  int family;
  int group;  // numbered over all families
};

class ReuseStatistics {
 public:
  // A class for each of `places`; families and groups are numbered from 0.
  explicit ReuseStatistics(std::vector<ReuseClassPlace> places);

  int classes() const { return static_cast<int>(places_.size()); }

  // A block of the class came to the age bucket unused, or, for the first, was used just now.
  void CountAtRisk(int block_class, int age_bucket);
  // A block of the class that had come to the age bucket was used in it.
  void CountReuse(int block_class, int age_bucket);

  // What was counted counts less from now on than what will be.
  void Fade();

  // Works out the worths from the counts.
  void Fit();

  // Expected uses a millisecond, as of the last Fit.
  double worth(int block_class, int age_bucket) const { return worths_[block_class][age_bucket]; }

 private:
  // Ages within which a class keeps its factor: three octaves.
  static constexpr int kBucketsPerSpan = 6;
  static constexpr int kSpans = (kAgeBuckets + kBucketsPerSpan - 1) / kBucketsPerSpan;

  using ByAge = std::array<double, kAgeBuckets>;
  struct Family {
    ByAge at_risk{};
    ByAge reused{};
    ByAge hazard{};
  };
  struct Evidence {
    double reused = 0;
    double expected = 0;  // reuses, had it been like the family
    double Factor(double prior) const;
  };
  using Spans = std::array<Evidence, kSpans>;

  void FitFamily(Family& family) const;
  void FitClass(int block_class);

  std::vector<ReuseClassPlace> places_;
  std::vector<Family> families_;
  std::vector<Spans> groups_;
  std::vector<Spans> classes_;
  std::vector<ByAge> worths_;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_EVICTION_REUSE_STATISTICS_H_
