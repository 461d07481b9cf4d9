#include "prefix_store/block_pool.h"

#include <set>

#include "gtest/gtest.h"
#include "prefix_store/ghost_list.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

TEST(BlockPool, EverySlotOnce) {
  BlockPool pool(5);
  std::set<SlotIndex> slots;
  for (int i = 0; i < 5; ++i) slots.insert(pool[pool.Take()].slot);
  EXPECT_EQ(slots.size(), 5);
  EXPECT_EQ(pool.free_blocks(), 0);
  EXPECT_OK(pool.Check());
}

TEST(BlockPool, AFreedBlockForgetsAllButItsSlot) {
  BlockPool pool(2);
  const BlockId block = pool.Take();
  const SlotIndex slot = pool[block].slot;
  pool[block] = Block{.prefix_hash = 7, .slot = slot, .leases = 0, .hits = 3, .depth = 9};
  pool.Free(block);
  const BlockId again = pool.Take();
  EXPECT_EQ(again, block) << "the last freed is taken first";
  EXPECT_EQ(pool[again].slot, slot);
  EXPECT_EQ(pool[again].hits, 0);
  EXPECT_EQ(pool[again].leases, 1);
}

TEST(BlockPool, CheckFindsALeakAndADoubleUse) {
  BlockPool pool(2);
  const BlockId block = pool.Take();
  pool[block].leases = 0;
  EXPECT_THAT(pool.Check(), StatusIs(absl::StatusCode::kInternal, ::testing::HasSubstr("2 blocks that no one has")));
  pool[block].leases = 1;
  pool[block].slot = pool[pool.Take()].slot;
  EXPECT_THAT(pool.Check(), StatusIs(absl::StatusCode::kInternal, ::testing::HasSubstr("exactly one block")));
}

TEST(GhostList, RemembersTheNewest) {
  GhostList ghosts(3);
  for (uint64_t hash = 1; hash <= 5; ++hash) ghosts.Remember(hash);
  EXPECT_FALSE(ghosts.Contains(1));
  EXPECT_FALSE(ghosts.Contains(2));
  for (uint64_t hash = 3; hash <= 5; ++hash) EXPECT_TRUE(ghosts.Contains(hash));
  ghosts.Remember(5);
  EXPECT_TRUE(ghosts.Contains(3)) << "a known one takes no room";
  ghosts.Clear();
  EXPECT_TRUE(ghosts.empty());
  EXPECT_FALSE(ghosts.Contains(5));
}

}  // namespace
}  // namespace headstart::testing
