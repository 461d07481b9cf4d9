#include "engine/sampling/mass.h"

#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "tests/engine/sampling/logits.h"

namespace headstart {
namespace {

using ::headstart::testing::LogitsWithTies;

TEST(Mass, WeightsAreExponentialsWithinTheirContract) {
  for (float temperature : {0.1f, 1.0f, 7.0f}) {
    for (int i = 0; i <= 8700; ++i) {
      const float logit = -static_cast<float>(i) * 0.01f * temperature;
      const double exact = std::exp(double{logit} / double{temperature});
      const double allowed = (std::fabs(logit / temperature) + 4) * 0x1p-23;
      EXPECT_NEAR(WeightOf(logit, 0, temperature) / exact, 1, allowed) << logit << " at " << temperature;
    }
  }
}

TEST(Mass, TheLargestWeighsOneAndTheFarthestNothing) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  constexpr float kSmallest = std::numeric_limits<float>::denorm_min();
  for (float temperature : {kSmallest, 1e-30f, 1.0f, 100.0f}) {
    EXPECT_EQ(WeightOf(3, 3, temperature), 1);
    EXPECT_EQ(WeightOf(-kLargest, -kLargest, temperature), 1);
    EXPECT_EQ(WeightOf(-kLargest, kLargest, temperature), 0);
    EXPECT_EQ(WeightOf(-kLargest, 0, temperature), 0);
  }
  EXPECT_EQ(WeightOf(-87.5f, 0, 1), 0);
  EXPECT_GT(WeightOf(-86.5f, 0, 1), 0);
}

TEST(Mass, IsTheSumOfTheWeightsThatAreKept) {
  for (int size : {1, 15, 16, 17, 255, 256, 257, 1000}) {
    const std::vector<float> logits = LogitsWithTies(size, 1);
    for (const Cut& cut :
         {Cut{}, Cut{.logit = 0, .id = size / 2}, Cut{.logit = 1.25f, .id = 0}, Cut{.logit = 50, .id = 0}}) {
      double expected = 0;
      for (int id = 0; id < size; ++id) {
        if (cut.Keeps(logits[static_cast<size_t>(id)], id))
          expected += std::exp(double{logits[static_cast<size_t>(id)]} - 6);
      }
      // Up to |x| = 12 and stretches of 256 terms in 16 lanes.
      EXPECT_NEAR(MassOf(logits, cut, 6, 1), expected, expected * 0x1p-18) << size;
    }
  }
}

}  // namespace
}  // namespace headstart
