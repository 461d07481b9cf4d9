#include "engine/sampling/cut.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace headstart {
namespace {

using Candidates = std::span<CutCandidate>;

bool RanksBefore(const CutCandidate& a, const CutCandidate& b) {
  return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
}

double MassOf(Candidates candidates) {
  double mass = 0;
  for (const CutCandidate& candidate : candidates) mass += candidate.weight;
  return mass;
}

// Moves the `count` first in rank to the front.
Candidates SelectFirst(Candidates candidates, size_t count) {
  if (count >= candidates.size()) return candidates;
  std::nth_element(candidates.begin(), candidates.begin() + static_cast<ptrdiff_t>(count), candidates.end(),
                   RanksBefore);
  return candidates.first(count);
}

// The fewest first in rank whose mass reaches `mass`. Halves what is in question until it is one, which is linear in
// all.
Candidates SelectMass(Candidates candidates, double mass) {
  size_t kept = 0;                 // these are in
  size_t end = candidates.size();  // these are out, unless all are needed
  while (end - kept > 1) {
    const size_t half = (end - kept) / 2;
    const Candidates likelier = SelectFirst(candidates.subspan(kept, end - kept), half);
    const double likelier_mass = MassOf(likelier);
    if (likelier_mass >= mass) {
      end = kept + half;
    } else {
      mass -= likelier_mass;
      kept += half;
    }
  }
  return candidates.first(end);
}

// Those that min-p keeps, with their weights.
void Collect(std::span<const float> logits, const CutLimits& limits, std::vector<CutCandidate>& candidates) {
  const float largest = *std::max_element(logits.begin(), logits.end());
  const double least = limits.min_p > 0 ? largest + limits.temperature * std::log(limits.min_p) : -INFINITY;
  candidates.clear();
  for (size_t id = 0; id < logits.size(); ++id) {
    if (logits[id] < least) continue;
    candidates.push_back({.logit = logits[id], .id = static_cast<int32_t>(id)});
  }
}

void Weigh(Candidates candidates, double temperature) {
  const float largest = std::min_element(candidates.begin(), candidates.end(), RanksBefore)->logit;
  for (CutCandidate& candidate : candidates) candidate.weight = WeightOf(candidate.logit, largest, temperature);
}

}  // namespace

double WeightOf(float logit, float largest, double temperature) {
  return std::exp((double{logit} - double{largest}) / temperature);
}

Cut FindCut(std::span<const float> logits, const CutLimits& limits, std::vector<CutCandidate>& scratch) {
  if (limits.IsOff()) return Cut{};
  Collect(logits, limits, scratch);
  Candidates kept = scratch;
  if (limits.top_k > 0) kept = SelectFirst(kept, static_cast<size_t>(limits.top_k));
  if (limits.top_p < 1) {
    Weigh(kept, limits.temperature);
    kept = SelectMass(kept, limits.top_p * MassOf(kept));
  }
  const CutCandidate& last = *std::max_element(kept.begin(), kept.end(), RanksBefore);
  return {.logit = last.logit, .id = last.id};
}

}  // namespace headstart
