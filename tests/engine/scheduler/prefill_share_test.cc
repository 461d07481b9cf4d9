#include "engine/scheduler/prefill_share.h"

#include <numeric>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace headstart {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<int64_t> Share(std::vector<int64_t> remaining, int64_t budget) { return SharePrefill(remaining, budget); }

TEST(PrefillShareTest, NobodyWantsAnything) { EXPECT_THAT(Share({}, 256), IsEmpty()); }

TEST(PrefillShareTest, OneTakesAllItNeeds) {
  EXPECT_THAT(Share({1000}, 256), ElementsAre(256));
  EXPECT_THAT(Share({100}, 256), ElementsAre(100));
}

TEST(PrefillShareTest, AShortOneBesideAHugeOneIsDoneAtOnce) {
  EXPECT_THAT(Share({20000, 32}, 256), ElementsAre(224, 32));
}

TEST(PrefillShareTest, TheOldestKeepsHalfHoweverManyShortOnesThereAre) {
  EXPECT_THAT(Share({20000, 100, 50, 60}, 256), ElementsAre(128, 18, 50, 60));
}

TEST(PrefillShareTest, OneTokenGoesToTheOldest) { EXPECT_THAT(Share({9, 2}, 1), ElementsAre(1, 0)); }

TEST(PrefillShareTest, NothingIsLeftWhileSomebodyWantsIt) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::vector<int64_t> remaining(1 + random() % 8);
    for (int64_t& tokens : remaining) tokens = 1 + random() % 300;
    const auto budget = static_cast<int64_t>(random() % 512);
    const std::vector<int64_t> shares = Share(remaining, budget);
    const int64_t wanted = std::accumulate(remaining.begin(), remaining.end(), int64_t{0});
    ASSERT_EQ(std::accumulate(shares.begin(), shares.end(), int64_t{0}), std::min(wanted, budget));
    for (size_t i = 0; i < shares.size(); ++i) {
      ASSERT_GE(shares[i], 0);
      ASSERT_LE(shares[i], remaining[i]);
    }
  }
}

}  // namespace
}  // namespace headstart
