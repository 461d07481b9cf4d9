#include "prefix_store/prefix_tree.h"

#include "gtest/gtest.h"
#include "tests/prefix_store/store_harness.h"

namespace headstart::testing {
namespace {

constexpr int kBlock = 8;

class PrefixTreeTest : public ::testing::TestWithParam<int> {
 protected:
  // Inserts what of `tokens` is not there; returns the block that it put in last.
  BlockId Put(const Tokens& tokens, const Scope& scope = Scope::Public()) {
    const auto use = scopes_.Intern(scope);
    TreePosition at = tree_.Root();
    BlockId last{};
    for (size_t i = 0; i < tokens.size(); i += kBlock) {
      const TokenSpan block = TokenSpan(tokens).subspan(i, std::min<size_t>(kBlock, tokens.size() - i));
      const auto there = block.size() == kBlock ? tree_.FindNext(at, use.id(), block) : std::nullopt;
      last = there ? *there : pool_.Take();
      if (!there) redundant_ = tree_.Insert(at, use, block, last);
      at = tree_.After(last);
    }
    EXPECT_OK(tree_.Check());
    return last;
  }

  int64_t Match(const Tokens& tokens, const Scope& scope = Scope::Public()) const {
    const TreeMatch match = tree_.Match(scopes_.Find(scope), tokens);
    return match.at.blocks * kBlock + match.partial_tokens;
  }

  BlockHasher hasher_{GetParam(), 0};
  ScopeTable scopes_{hasher_};
  BlockPool pool_{100};
  PrefixTree tree_{kBlock, hasher_, pool_};
  std::optional<BlockId> redundant_;
};

INSTANTIATE_TEST_SUITE_P(HashBits, PrefixTreeTest, ::testing::Values(0, 1, 8, 64));

TEST_P(PrefixTreeTest, EmptyTreeMatchesNothing) {
  EXPECT_EQ(Match(Count(0, 30)), 0);
  EXPECT_EQ(Match({}), 0);
  EXPECT_EQ(tree_.nodes(), 0);
}

TEST_P(PrefixTreeTest, OneSequenceIsOneRunAndATail) {
  Put(Count(0, 30));
  EXPECT_EQ(tree_.nodes(), 2);
  EXPECT_EQ(tree_.tokens(), 30);
  EXPECT_EQ(Match(Count(0, 40)), 30);
}

TEST_P(PrefixTreeTest, SplitsAtTheBlockWhereASequenceLeaves) {
  Put(Count(0, 32));
  Put(Count(0, 20) + Count(100, 12));
  EXPECT_EQ(tree_.nodes(), 3);
  EXPECT_EQ(Match(Count(0, 32)), 32);
  EXPECT_EQ(Match(Count(0, 20) + Count(100, 12)), 32);
  EXPECT_EQ(Match(Count(0, 19) + Count(200, 12)), 19);
}

TEST_P(PrefixTreeTest, SplittingKeepsChildrenWithTheLowerPart) {
  Put(Count(0, 32));
  Put(Count(0, 32) + Count(100, 8));
  Put(Count(0, 32) + Count(200, 8));
  Put(Count(0, 8) + Count(300, 8));
  EXPECT_EQ(Match(Count(0, 32) + Count(100, 8)), 40);
  EXPECT_EQ(Match(Count(0, 32) + Count(200, 8)), 40);
  EXPECT_EQ(Match(Count(0, 8) + Count(300, 8)), 16);
}

TEST_P(PrefixTreeTest, PathListsBlocksInOrder) {
  const BlockId last = Put(Count(0, 32));
  Put(Count(0, 16) + Count(100, 8));
  const std::vector<BlockId> path = tree_.Path(tree_.After(last));
  ASSERT_EQ(path.size(), 4);
  for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(pool_[path[i]].depth, i);
  EXPECT_EQ(path.back(), last);
}

TEST_P(PrefixTreeTest, NearestSiblingOnEitherSide) {
  Put(Count(0, 3) + Count(50, 5));
  Put(Count(0, 5) + Count(10, 3));
  Put(Count(0, 1) + Count(90, 7));
  EXPECT_EQ(Match(Count(0, 4) + Count(4, 9)), 5);
  EXPECT_EQ(Match(Count(0, 3) + Count(51, 9)), 3);
  EXPECT_EQ(Match(Count(0, 1) + Count(2, 9)), 1);
  EXPECT_EQ(Match(Count(7, 9)), 0);
}

TEST_P(PrefixTreeTest, LongerTailOrBlockMakesATailRedundant) {
  const BlockId tail = Put(Count(0, 3));
  const BlockId longer = Put(Count(0, 5));
  EXPECT_EQ(redundant_, tail);
  Put(Count(0, 8));
  EXPECT_EQ(redundant_, longer);
  EXPECT_EQ(tree_.nodes(), 1);
  Put(Count(0, 2) + Count(9, 1));
  EXPECT_EQ(redundant_, std::nullopt);
  EXPECT_TRUE(tree_.Covers(tree_.Root(), kPublicScope, Count(0, 7)));
  EXPECT_FALSE(tree_.Covers(tree_.Root(), kPublicScope, Count(0, 3) + Count(9, 1)));
}

TEST_P(PrefixTreeTest, AnotherScopesTailIsNotRedundant) {
  Put(Count(0, 3), Scope::Tenant("a"));
  Put(Count(0, 5), Scope::Tenant("b"));
  EXPECT_EQ(redundant_, std::nullopt);
  EXPECT_EQ(Match(Count(0, 8), Scope::Tenant("a")), 3);
  EXPECT_EQ(Match(Count(0, 8), Scope::Tenant("b")), 5);
  EXPECT_EQ(Match(Count(0, 8)), 0);
}

TEST_P(PrefixTreeTest, OnlyTheLastBlockWithoutChildrenIsALeaf) {
  const BlockId last = Put(Count(0, 24));
  const std::vector<BlockId> path = tree_.Path(tree_.After(last));
  EXPECT_FALSE(tree_.IsLeaf(path[0]));
  EXPECT_TRUE(tree_.IsLeaf(last));
  const BlockId tail = Put(Count(0, 26));
  EXPECT_FALSE(tree_.IsLeaf(last));
  tree_.Remove(tail);
  EXPECT_TRUE(tree_.IsLeaf(last));
  tree_.Remove(last);
  EXPECT_EQ(Match(Count(0, 24)), 16);
  tree_.Remove(path[1]);
  tree_.Remove(path[0]);
  EXPECT_EQ(tree_.nodes(), 0);
  EXPECT_EQ(tree_.tokens(), 0);
  EXPECT_OK(tree_.Check());
}

TEST_P(PrefixTreeTest, GoesOnTellsDivergenceFromTheEnd) {
  Put(Count(0, 20));
  EXPECT_FALSE(tree_.Match(kPublicScope, Count(0, 30)).goes_on) << "the prompt is longer than what is cached";
  EXPECT_TRUE(tree_.Match(kPublicScope, Count(0, 18) + Count(90, 9)).goes_on);
  EXPECT_TRUE(tree_.Match(kPublicScope, Count(0, 8) + Count(90, 9)).goes_on);
  EXPECT_TRUE(tree_.Match(kPublicScope, Count(0, 16) + Count(90, 9)).goes_on);
}

TEST_P(PrefixTreeTest, ClearTakesEverythingOut) {
  Put(Count(0, 20));
  Put(Count(100, 20), Scope::Tenant("a"));
  int removed = 0;
  tree_.Clear([&](BlockId block) {
    EXPECT_FALSE(pool_[block].cached());
    ++removed;
  });
  EXPECT_EQ(removed, 6);
  EXPECT_EQ(tree_.nodes(), 0);
  EXPECT_EQ(scopes_.size(), 1) << "with its nodes, a scope's uses end";
  EXPECT_OK(tree_.Check());
}

TEST_P(PrefixTreeTest, CheckFindsALeasedBlockBelowOneThatIsNot) {
  const BlockId last = Put(Count(0, 16));
  const BlockId first = tree_.Path(tree_.After(last))[0];
  pool_[first].leases = 0;
  EXPECT_THAT(tree_.Check(), StatusIs(absl::StatusCode::kInternal, ::testing::HasSubstr("leased block below")));
  pool_[first].leases = 1;
  pool_[last].depth = 7;
  EXPECT_THAT(tree_.Check(), StatusIs(absl::StatusCode::kInternal, ::testing::HasSubstr("record points elsewhere")));
}

}  // namespace
}  // namespace headstart::testing
