#include "prefix_store/token_compare.h"

#include "gtest/gtest.h"
#include "tests/prefix_store/store_harness.h"

namespace headstart::testing {
namespace {

TEST(TokenCompare, CommonTokensAtEveryOffset) {
  for (int length = 0; length <= 200; ++length) {
    const Tokens a = Count(0, length);
    EXPECT_EQ(CommonTokens(a, a), length);
    EXPECT_EQ(CommonTokens(a, Count(0, length + 3)), length);
    for (int differs = 0; differs < length; ++differs) {
      Tokens b = a;
      b[differs] = TokenId{-1};
      ASSERT_EQ(CommonTokens(a, b), differs);
    }
  }
}

TEST(TokenCompare, OrderPutsAPrefixFirst) {
  EXPECT_TRUE(TokensLess({}, Count(0, 1)));
  EXPECT_TRUE(TokensLess(Count(0, 3), Count(0, 4)));
  EXPECT_FALSE(TokensLess(Count(0, 4), Count(0, 3)));
  EXPECT_FALSE(TokensLess(Count(0, 3), Count(0, 3)));
  EXPECT_TRUE(TokensLess(Count(0, 3) + Count(-5, 1), Count(0, 4))) << "ids are compared as signed numbers";
}

TEST(TokenCompare, StartsWith) {
  EXPECT_TRUE(StartsWith(Count(0, 4), Count(0, 4)));
  EXPECT_TRUE(StartsWith(Count(0, 4), {}));
  EXPECT_FALSE(StartsWith(Count(0, 4), Count(0, 5)));
  EXPECT_FALSE(StartsWith(Count(0, 4), Count(1, 2)));
}

}  // namespace
}  // namespace headstart::testing
