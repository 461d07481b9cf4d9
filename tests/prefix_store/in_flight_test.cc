#include "prefix_store/in_flight.h"

#include "gtest/gtest.h"
#include "tests/prefix_store/store_harness.h"

namespace headstart::testing {
namespace {

constexpr ScopeId kA{1};
constexpr ScopeId kB{2};

class InFlightTest : public ::testing::TestWithParam<int> {
 protected:
  BlockHasher hasher_{GetParam(), 0};
  InFlight in_flight_{8, hasher_};
};

INSTANTIATE_TEST_SUITE_P(HashBits, InFlightTest, ::testing::Values(0, 64));

TEST_P(InFlightTest, WholeEqualBlocksAreAhead) {
  const auto claim = in_flight_.Announce(kPublicScope, Count(0, 30), 0, 0);
  EXPECT_EQ(in_flight_.BlocksAhead(kPublicScope, Count(0, 100), 0, 0), 3);
  EXPECT_EQ(in_flight_.BlocksAhead(kPublicScope, Count(0, 23), 0, 0), 2);
  EXPECT_EQ(in_flight_.BlocksAhead(kPublicScope, Count(0, 12) + Count(50, 20), 0, 0), 1);
  EXPECT_EQ(in_flight_.BlocksAhead(kPublicScope, Count(1, 30), 0, 0), 0);
  EXPECT_EQ(in_flight_.BlocksAhead(kPublicScope, Count(0, 7), 0, 0), 0);
  in_flight_.Withdraw(*claim);
}

TEST_P(InFlightTest, OnlyVisibleClaimsCount) {
  const auto claim = in_flight_.Announce(kA, Count(0, 32), 0, 0);
  EXPECT_EQ(in_flight_.BlocksAhead(kA, Count(0, 32), 0, 0), 4);
  EXPECT_EQ(in_flight_.BlocksAhead(kB, Count(0, 32), 0, 0), 0);
  EXPECT_EQ(in_flight_.BlocksAhead(kPublicScope, Count(0, 32), 0, 0), 0);
  const auto open = in_flight_.Announce(kPublicScope, Count(0, 16), 0, 0);
  EXPECT_EQ(in_flight_.BlocksAhead(kB, Count(0, 32), 0, 0), 2);
  in_flight_.Withdraw(*claim);
  in_flight_.Withdraw(*open);
}

TEST_P(InFlightTest, ShrinksFromTheFront) {
  const auto claim = in_flight_.Announce(kPublicScope, Count(0, 32), 1, hasher_.Chain(0, Count(0, 8)));
  const uint64_t one = hasher_.Chain(0, Count(0, 8));
  const uint64_t two = hasher_.Chain(one, Count(8, 8));
  EXPECT_EQ(in_flight_.BlocksAhead(kPublicScope, Count(0, 32), 1, one), 4);
  in_flight_.Shrink(*claim, 2);
  EXPECT_EQ(in_flight_.BlocksAhead(kPublicScope, Count(0, 32), 1, one), 1);
  EXPECT_EQ(in_flight_.BlocksAhead(kPublicScope, Count(0, 32), 2, two), 4);
  EXPECT_OK(in_flight_.Check({claim.get()}));
  in_flight_.Shrink(*claim, 1);  // never grows again
  EXPECT_EQ(in_flight_.BlocksAhead(kPublicScope, Count(0, 32), 1, one), 1);
  in_flight_.Withdraw(*claim);
  EXPECT_OK(in_flight_.Check({}));
}

TEST_P(InFlightTest, TheLongestOfSeveral) {
  const auto shorter = in_flight_.Announce(kPublicScope, Count(0, 16), 0, 0);
  const auto longer = in_flight_.Announce(kPublicScope, Count(0, 40), 0, 0);
  EXPECT_EQ(in_flight_.BlocksAhead(kPublicScope, Count(0, 64), 0, 0), 5);
  in_flight_.Withdraw(*longer);
  EXPECT_EQ(in_flight_.BlocksAhead(kPublicScope, Count(0, 64), 0, 0), 2);
  in_flight_.Withdraw(*shorter);
}

}  // namespace
}  // namespace headstart::testing
