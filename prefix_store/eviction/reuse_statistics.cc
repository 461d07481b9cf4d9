#include "prefix_store/eviction/reuse_statistics.h"

#include <algorithm>
#include <cmath>

namespace headstart {
namespace {

// Before anything was seen, a block that came to an age is used with this chance before it is 1.4 times as old. A
// constant chance on a logarithmic scale of ages prefers none of them, and makes the younger block worth more.
constexpr double kPriorHazard = 0.02;
// The first bucket is two and a half times as wide as the one after it, and the youngest of all must be worth most.
constexpr double kPriorFirstHazard = 3 * kPriorHazard;
// Blocks that this opinion counts for: so few that the first minutes of traffic outweigh it.
constexpr double kPriorBlocks = 20;

// A class needs so many expected reuses before its own factor counts as much as its group's.
constexpr double kFactorPriorReuses = 4;

// No age makes a reuse certain, or survival would be zero for all later ages.
constexpr double kMaxHazard = 0.95;

// What is left of a count each time: half after about seven times.
constexpr double kFade = 0.9;

// The last bucket has no end; it counts as long as its start is old.
double WidthMs(int bucket) {
  const int64_t start = kAgeBucketStartMs[bucket];
  return static_cast<double>(bucket + 1 == kAgeBuckets ? start : kAgeBucketStartMs[bucket + 1] - start);
}

}  // namespace

ReuseStatistics::ReuseStatistics(std::vector<ReuseClassPlace> places)
    : places_(std::move(places)), classes_(places_.size()), worths_(places_.size()) {
  for (const ReuseClassPlace& place : places_) {
    families_.resize(std::max<size_t>(families_.size(), place.family + 1));
    groups_.resize(std::max<size_t>(groups_.size(), place.group + 1));
  }
  Fit();
}

double ReuseStatistics::Evidence::Factor(double prior) const {
  return (reused + kFactorPriorReuses * prior) / (expected + kFactorPriorReuses);
}

void ReuseStatistics::CountAtRisk(int block_class, int age_bucket) {
  const ReuseClassPlace& place = places_[block_class];
  Family& family = families_[place.family];
  ++family.at_risk[age_bucket];
  const int span = age_bucket / kBucketsPerSpan;
  groups_[place.group][span].expected += family.hazard[age_bucket];
  classes_[block_class][span].expected += family.hazard[age_bucket];
}

void ReuseStatistics::CountReuse(int block_class, int age_bucket) {
  const ReuseClassPlace& place = places_[block_class];
  ++families_[place.family].reused[age_bucket];
  const int span = age_bucket / kBucketsPerSpan;
  ++groups_[place.group][span].reused;
  ++classes_[block_class][span].reused;
}

void ReuseStatistics::Fade() {
  for (Family& family : families_) {
    for (double& count : family.at_risk) count *= kFade;
    for (double& count : family.reused) count *= kFade;
  }
  for (auto* all : {&groups_, &classes_}) {
    for (Spans& spans : *all) {
      for (Evidence& evidence : spans) evidence = {evidence.reused * kFade, evidence.expected * kFade};
    }
  }
}

void ReuseStatistics::Fit() {
  for (Family& family : families_) FitFamily(family);
  for (int i = 0; i < classes(); ++i) FitClass(i);
}

void ReuseStatistics::FitFamily(Family& family) const {
  for (int age = 0; age < kAgeBuckets; ++age) {
    const double prior = age == 0 ? kPriorFirstHazard : kPriorHazard;
    const double hazard = (family.reused[age] + kPriorBlocks * prior) / (family.at_risk[age] + kPriorBlocks);
    family.hazard[age] = std::min(kMaxHazard, hazard);
  }
}

void ReuseStatistics::FitClass(int block_class) {
  const ReuseClassPlace& place = places_[block_class];
  ByAge whole;  // chance of a reuse within a bucket, for a block that came to it
  ByAge half;   // and within half of it, for a block in its middle
  for (int age = 0; age < kAgeBuckets; ++age) {
    const int span = age / kBucketsPerSpan;
    const double factor = classes_[block_class][span].Factor(groups_[place.group][span].Factor(1));
    const double log_survival = factor * std::log1p(-families_[place.family].hazard[age]);
    whole[age] = -std::expm1(log_survival);
    half[age] = -std::expm1(log_survival / 2);
  }
  for (int age = 0; age < kAgeBuckets; ++age) {
    double alive = 1;  // not yet reused
    double time_ms = 0;
    double best = 0;
    for (int horizon = age; horizon < kAgeBuckets; ++horizon) {
      const double chance = horizon == age ? half[age] : whole[horizon];
      const double width_ms = horizon == age ? WidthMs(age) / 2 : WidthMs(horizon);
      time_ms += alive * width_ms * (1 - chance / 2);  // a reuse comes in the middle, on average
      alive *= 1 - chance;
      best = std::max(best, (1 - alive) / time_ms);
    }
    worths_[block_class][age] = best;
  }
}

}  // namespace headstart
