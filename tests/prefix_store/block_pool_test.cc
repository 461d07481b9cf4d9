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
  for (int i = 0; i < 5; ++i) slots.insert(pool[pool.Take()].device);
  EXPECT_EQ(slots.size(), 5);
  EXPECT_EQ(pool.device().free(), 0);
  EXPECT_OK(pool.Check());
}

TEST(BlockPool, AFreedBlockForgetsAllItWas) {
  BlockPool pool(2, 1);
  const BlockId block = pool.Take();
  const SlotIndex slot = pool[block].device;
  pool.TakeHost(pool[block]);
  pool[block].hits = 3;
  pool[block].on_disk = true;
  pool[block].leases = 0;
  pool.Free(block);
  EXPECT_EQ(pool.host().free(), 1);
  const BlockId again = pool.Take();
  EXPECT_EQ(again, block) << "the last freed is taken first";
  EXPECT_EQ(pool[again].device, slot);
  EXPECT_EQ(pool[again].hits, 0);
  EXPECT_FALSE(pool[again].on_disk);
  EXPECT_EQ(pool[again].leases, 1);
}

TEST(BlockPool, RecordsOutliveTheDevicesSlots) {
  BlockPool pool(1);
  std::vector<BlockId> records;
  for (int i = 0; i < 10'000; ++i) records.push_back(pool.NewRecord());
  Block& first = pool[records.front()];
  first.leases = 1;
  EXPECT_EQ(pool.blocks(), 10'000);
  EXPECT_EQ(&pool[records.front()], &first) << "growth moves nothing";
  for (size_t i = 1; i < records.size(); ++i) pool.Free(records[i]);
  EXPECT_EQ(pool.blocks(), 1);
  EXPECT_OK(pool.Check());
}

TEST(BlockPool, CheckFindsALeakAndADoubleUse) {
  BlockPool pool(2);
  const BlockId block = pool.Take();
  pool[block].leases = 0;
  EXPECT_THAT(pool.Check(), StatusIs(absl::StatusCode::kInternal, ::testing::HasSubstr("1 blocks that no one has")));
  pool[block].leases = 1;
  pool[block].device = pool[pool.Take()].device;
  EXPECT_THAT(pool.Check(), StatusIs(absl::StatusCode::kInternal, ::testing::HasSubstr("exactly one block")));
}

TEST(GhostList, RemembersTheNewest) {
  GhostList ghosts(3);
  for (uint64_t hash = 1; hash <= 5; ++hash) ghosts.Remember(hash, Gone::kEvicted);
  EXPECT_EQ(ghosts.Find(1), std::nullopt);
  EXPECT_EQ(ghosts.Find(2), std::nullopt);
  for (uint64_t hash = 3; hash <= 5; ++hash) EXPECT_EQ(ghosts.Find(hash), Gone::kEvicted);
  ghosts.Remember(5, Gone::kExpired);
  EXPECT_EQ(ghosts.Find(3), Gone::kEvicted) << "a known one takes no room";
  EXPECT_EQ(ghosts.Find(5), Gone::kExpired);
  ghosts.Clear();
  EXPECT_TRUE(ghosts.empty());
  EXPECT_EQ(ghosts.Find(5), std::nullopt);
}

}  // namespace
}  // namespace headstart::testing
