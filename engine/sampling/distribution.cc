#include "engine/sampling/distribution.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace headstart {
namespace {

float LargestOf(std::span<const float> logits) { return *std::max_element(logits.begin(), logits.end()); }

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
  double sum = 0;
  for (float logit : logits) sum += WeightOf(logit, largest, 1);
  return double{largest} + std::log(sum);
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

TokenId Draw(std::span<const float> logits, const Cut& cut, double temperature, double uniform) {
  const float largest = LargestOf(logits);
  double total = 0;
  for (size_t id = 0; id < logits.size(); ++id) {
    if (cut.Keeps(logits[id], static_cast<int32_t>(id))) total += WeightOf(logits[id], largest, temperature);
  }
  double left = uniform * total;
  auto last = TokenId{};
  for (size_t id = 0; id < logits.size() && left >= 0; ++id) {
    if (!cut.Keeps(logits[id], static_cast<int32_t>(id))) continue;
    const double weight = WeightOf(logits[id], largest, temperature);
    if (weight == 0) continue;  // so that rounding at the very end cannot pick what has no chance
    left -= weight;
    last = TokenId{static_cast<int32_t>(id)};
  }
  return last;
}

}  // namespace headstart
