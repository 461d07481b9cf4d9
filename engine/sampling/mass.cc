#include "engine/sampling/mass.h"

#include <algorithm>
#include <bit>

namespace headstart {
namespace {

// Sums that run side by side, so that the compiler can use vector registers without changing the order of additions.
constexpr size_t kLanes = 16;

// e^x for x <= 0, branchless so that it vectorises: 2^n · e^f with n whole and |f| <= ln 2 / 2.
inline float ExpOfNegative(float x) {
  constexpr float kLowest = -87.0f;  // e^-87 is the last before results stop being normal
  constexpr float kLog2E = 0x1.715476p0f;
  constexpr float kLn2High = 0x1.62e4p-1f;  // n · this is exact
  constexpr float kLn2Low = 0x1.7f7d1cp-20f;
  constexpr float kRound = 0x1.8p23f;  // adding it leaves the nearest whole number in the low bits
  const float clamped = std::max(x, kLowest);
  const float shifted = clamped * kLog2E + kRound;
  const float n = shifted - kRound;
  const float f = (clamped - n * kLn2High) - n * kLn2Low;
  // Taylor to the sixth power: the next term is below 2^-22 · |f|.
  const float e = 1 + f * (1 + f * (1.0f / 2 + f * (1.0f / 6 + f * (1.0f / 24 + f * (1.0f / 120 + f * (1.0f / 720))))));
  const int32_t exponent = std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(kRound) + 127;
  const float result = e * std::bit_cast<float>(exponent << 23);
  return x < kLowest ? 0.0f : result;
}

inline float Weight(float logit, float largest, float temperature) {
  return ExpOfNegative((logit - largest) / temperature);
}

inline float KeptWeight(float logit, int32_t id, const Cut& cut, float largest, float temperature) {
  const float weight = Weight(logit, largest, temperature);
  return cut.Keeps(logit, id) ? weight : 0.0f;
}

// Most stretches of a narrow distribution hold nothing that is kept: looking at the largest is cheaper than weighing.
bool KeepsNone(std::span<const float> logits, const Cut& cut) {
  return *std::max_element(logits.begin(), logits.end()) < cut.logit;
}

}  // namespace

float WeightOf(float logit, float largest, float temperature) { return Weight(logit, largest, temperature); }

float StretchMass(std::span<const float> logits, int32_t first_id, const Cut& cut, float largest, float temperature) {
  if (KeepsNone(logits, cut)) return 0;
  float sums[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= logits.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const auto id = first_id + static_cast<int32_t>(i + lane);
      sums[lane] += KeptWeight(logits[i + lane], id, cut, largest, temperature);
    }
  }
  float sum = 0;
  for (; i < logits.size(); ++i) {
    sum += KeptWeight(logits[i], first_id + static_cast<int32_t>(i), cut, largest, temperature);
  }
  for (float lane_sum : sums) sum += lane_sum;
  return sum;
}

double MassOf(std::span<const float> logits, const Cut& cut, float largest, float temperature) {
  double mass = 0;
  for (size_t first = 0; first < logits.size(); first += kStretch) {
    const auto stretch = logits.subspan(first, std::min(kStretch, logits.size() - first));
    mass += double{StretchMass(stretch, static_cast<int32_t>(first), cut, largest, temperature)};
  }
  return mass;
}

}  // namespace headstart
