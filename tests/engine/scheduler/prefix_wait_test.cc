#include "engine/scheduler/prefix_wait.h"

#include "gtest/gtest.h"

namespace headstart {
namespace {

constexpr int kBlock = 16;
const absl::Duration kPatience = absl::Seconds(10);
const absl::Time kStart = absl::UnixEpoch();

class PrefixWaitTest : public ::testing::Test {
 protected:
  bool At(int64_t second, int64_t matched, int64_t pending) {
    return wait_.ShouldWait({.matched_tokens = matched, .pending_tokens = pending}, kBlock,
                            kStart + absl::Seconds(second), kPatience);
  }
  PrefixWait wait_;
};

TEST_F(PrefixWaitTest, BeginsToWaitForAWholeBlockAndNotForLess) {
  EXPECT_FALSE(At(0, 0, kBlock - 1));
  EXPECT_FALSE(wait_.waiting());
  EXPECT_TRUE(At(0, 0, kBlock));
  EXPECT_TRUE(wait_.waiting());
}

TEST_F(PrefixWaitTest, WaitsForTheLastTokensToo) {
  EXPECT_TRUE(At(0, 0, 1000));
  EXPECT_TRUE(At(1, 999, 1));
  EXPECT_FALSE(At(2, 1000, 0));
  EXPECT_FALSE(wait_.waiting());
}

TEST_F(PrefixWaitTest, WaitsAsLongAsTheOwnerAdvances) {
  for (int64_t second = 0; second < 100; second += 9) EXPECT_TRUE(At(second, second, 1000));
}

TEST_F(PrefixWaitTest, LosesPatienceWithAnOwnerThatStands) {
  EXPECT_TRUE(At(0, 32, 1000));
  EXPECT_TRUE(At(9, 32, 1000));
  EXPECT_FALSE(At(10, 32, 1000));
  EXPECT_FALSE(At(11, 64, 1000)) << "it runs by itself now";
}

}  // namespace
}  // namespace headstart
