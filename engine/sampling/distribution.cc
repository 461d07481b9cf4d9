#include "engine/sampling/distribution.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace headstart {
namespace {

float LargestOf(std::span<const float> logits) { return *std::max_element(logits.begin(), logits.end()); }

struct Place {
  size_t index = 0;
  double rest = 0;  // how far into it
};

// Where `target` lies when the weights of [begin, end) are laid end to end. Rounding may put it past them all; then it
// is in the last that has any.
template <typename Weight>
Place Locate(size_t begin, size_t end, double target, Weight weight_of) {
  Place place = {.index = begin, .rest = target};
  for (size_t i = begin; i < end; ++i) {
    const double weight = weight_of(i);
    if (weight == 0) continue;
    place = {.index = i, .rest = target};
    if (target < weight) break;
    target -= weight;
  }
  return place;
}

}  // namespace

float FiniteLogit(float logit) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  return std::min(kLargest, std::max(-kLargest, logit));  // in this order NaN, which compares false, gives the lowest
}

TokenId LikeliestToken(std::span<const float> logits) {
  return TokenId{static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin())};
}

double LogSumExp(std::span<const float> logits) {
  const float largest = LargestOf(logits);
  return double{largest} + std::log(MassOf(logits, Cut{}, largest, 1));
}

std::vector<TokenLogprob> LikeliestTokens(std::span<const float> logits, int count, double log_sum_exp) {
  const auto wanted = std::min(static_cast<size_t>(count), logits.size());
  std::vector<TokenLogprob> top;  // by descending logit, which `logprob` holds until the end
  if (wanted == 0) return top;
  for (size_t id = 0; id < logits.size(); ++id) {
    if (top.size() == wanted && logits[id] <= top.back().logprob) continue;
    const auto place =
        std::find_if(top.begin(), top.end(), [&](const auto& other) { return other.logprob < logits[id]; });
    top.insert(place, {.token = TokenId{static_cast<int32_t>(id)}, .logprob = logits[id]});
    if (top.size() > wanted) top.pop_back();
  }
  for (TokenLogprob& token : top) token.logprob = FiniteLogit(static_cast<float>(token.logprob - log_sum_exp));
  return top;
}

TokenId Draw(std::span<const float> logits, const Cut& cut, float temperature, double uniform,
             std::vector<float>& scratch) {
  const float largest = LargestOf(logits);
  scratch.clear();
  double total = 0;
  for (size_t first = 0; first < logits.size(); first += kStretch) {
    const auto stretch = logits.subspan(first, std::min(kStretch, logits.size() - first));
    scratch.push_back(StretchMass(stretch, static_cast<int32_t>(first), cut, largest, temperature));
    total += double{scratch.back()};
  }
  const Place stretch = Locate(0, scratch.size(), uniform * total, [&](size_t i) { return scratch[i]; });
  const size_t first = stretch.index * kStretch;
  const Place token = Locate(first, std::min(first + kStretch, logits.size()), stretch.rest, [&](size_t i) {
    const bool is_kept = cut.Keeps(logits[i], static_cast<int32_t>(i));
    return is_kept ? WeightOf(logits[i], largest, temperature) : 0.0f;
  });
  return TokenId{static_cast<int32_t>(token.index)};
}

}  // namespace headstart
