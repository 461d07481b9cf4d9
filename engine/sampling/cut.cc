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

// The head of the ranking whose probability is at least `share` of the likeliest's.
Cut CutAtShare(float largest, double share, float temperature) {
  return share > 0 ? Cut{.logit = static_cast<float>(largest + temperature * std::log(share))} : Cut{};
}

// The first `count` of those that `cut` keeps, gathered as a heap with the last of them in front.
void CollectFirst(std::span<const float> logits, const Cut& cut, size_t count, std::vector<CutCandidate>& heap) {
  heap.clear();
  for (size_t i = 0; i < logits.size(); ++i) {
    const CutCandidate candidate = {.logit = logits[i], .id = static_cast<int32_t>(i)};
    if (!cut.Keeps(candidate.logit, candidate.id)) continue;
    if (heap.size() == count) {
      if (!RanksBefore(candidate, heap.front())) continue;
      std::pop_heap(heap.begin(), heap.end(), RanksBefore);
      heap.pop_back();
    }
    heap.push_back(candidate);
    std::push_heap(heap.begin(), heap.end(), RanksBefore);
  }
}

// Those that `cut` keeps and top-p can keep: all tokens below the least weight together weigh less than the 1 − p that
// may be left out, since the whole weighs at least 1.
void CollectLikely(std::span<const float> logits, const Cut& cut, const CutLimits& limits, float largest,
                   std::vector<CutCandidate>& likely) {
  const double least_weight = (1 - limits.top_p) / static_cast<double>(logits.size());
  const double least_logit = largest + limits.temperature * std::log(least_weight);
  likely.clear();
  for (size_t i = 0; i < logits.size(); ++i) {
    const CutCandidate candidate = {.logit = logits[i], .id = static_cast<int32_t>(i)};
    if (logits[i] >= least_logit && cut.Keeps(candidate.logit, candidate.id)) likely.push_back(candidate);
  }
}

double MassOf(Candidates candidates, float largest, float temperature) {
  double mass = 0;
  for (const CutCandidate& candidate : candidates) mass += double{WeightOf(candidate.logit, largest, temperature)};
  return mass;
}

// The fewest first in rank whose mass reaches `mass`. Halves what is in question until it is one, which is linear in
// all.
Candidates SelectMass(Candidates candidates, double mass, float largest, float temperature) {
  size_t kept = 0;                 // these are in
  size_t end = candidates.size();  // those from here are out
  while (end - kept > 1) {
    const size_t half = (end - kept) / 2;
    const Candidates question = candidates.subspan(kept, end - kept);
    std::nth_element(question.begin(), question.begin() + static_cast<ptrdiff_t>(half), question.end(), RanksBefore);
    const double likelier = MassOf(question.first(half), largest, temperature);
    if (likelier >= mass) {
      end = kept + half;
    } else {
      mass -= likelier;
      kept += half;
    }
  }
  return candidates.first(end);
}

Cut CutAfterLast(Candidates kept) {
  const CutCandidate& last = *std::max_element(kept.begin(), kept.end(), RanksBefore);
  return {.logit = last.logit, .id = last.id};
}

}  // namespace

Cut FindCut(std::span<const float> logits, const CutLimits& limits, std::vector<CutCandidate>& scratch) {
  const float largest = *std::max_element(logits.begin(), logits.end());
  const Cut min_p = CutAtShare(largest, limits.min_p, limits.temperature);
  if (limits.top_k == 0 && limits.top_p >= 1) return min_p;
  double mass = 0;
  if (limits.top_k > 0) {
    CollectFirst(logits, min_p, static_cast<size_t>(limits.top_k), scratch);
    mass = MassOf(scratch, largest, limits.temperature);
  } else {
    CollectLikely(logits, min_p, limits, largest, scratch);
    mass = MassOf(logits, min_p, largest, limits.temperature);
  }
  if (limits.top_p >= 1) return CutAfterLast(scratch);
  return CutAfterLast(SelectMass(scratch, limits.top_p * mass, largest, limits.temperature));
}

}  // namespace headstart
