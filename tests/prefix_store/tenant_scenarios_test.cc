// Who may see what: the cases T1 to T3, and public prefixes with private suffixes.

#include "gtest/gtest.h"
#include "tests/prefix_store/store_harness.h"

namespace headstart::testing {
namespace {

const Scope kA = Scope::Tenant("a");
const Scope kB = Scope::Tenant("b");

TEST(TenantScenario, T1OneTenantsPromptIsNewToAnother) {
  StoreHarness harness({.device_blocks = 64});
  EXPECT_EQ(harness.Run(Count(0, 50), kA), 0);
  EXPECT_EQ(harness.Run(Count(0, 50), kA), 49);
  const Match other = harness.Lookup(Count(0, 50), kB);
  EXPECT_EQ(other.matched_tokens, 0);
  EXPECT_EQ(other.miss_reason, MissReason::kNew);
  EXPECT_EQ(harness.Run(Count(0, 50), kB), 0);
  EXPECT_EQ(harness.Run(Count(0, 50), kB), 49);
}

TEST(TenantScenario, T1NeitherDivergenceNorEvictionNorPendingTellsOfAnother) {
  StoreHarness harness({.device_blocks = 8});
  harness.Run(Count(0, 32));
  {
    const Running busy = harness.Begin({.scope = kA, .tokens = Count(0, 90)});
    EXPECT_EQ(harness.Lookup(Count(0, 90), kA).pending_tokens, 48);
    EXPECT_EQ(harness.Lookup(Count(0, 90), kB).pending_tokens, 0);
  }
  harness.Run(Count(0, 90), kA);
  EXPECT_EQ(harness.Lookup(Count(0, 40) + Count(900, 9), kA).miss_reason, MissReason::kDiverged);
  EXPECT_EQ(harness.Lookup(Count(0, 32) + Count(900, 9), kB).miss_reason, MissReason::kNew);
  harness.Run(Count(5000, 128));  // evicts everything
  EXPECT_EQ(harness.Lookup(Count(0, 90), kA).miss_reason, MissReason::kEvicted);
  harness.Run(Count(0, 32));
  EXPECT_EQ(harness.Lookup(Count(0, 90), kA).miss_reason, MissReason::kEvicted);
  EXPECT_EQ(harness.Lookup(Count(0, 90), kB).miss_reason, MissReason::kNew);
}

TEST(TenantScenario, T2PublicPrefixIsComputedOnceForAll) {
  StoreHarness harness({.device_blocks = 1024});
  const Tokens system = Count(0, 512);
  harness.Run(system);
  for (int i = 0; i < 256; ++i) {
    const Scope tenant = Scope::Tenant("tenant " + std::to_string(i));
    const Tokens prompt = system + Count(1000, 20);
    ASSERT_EQ(harness.Run(prompt, tenant), 512);
    ASSERT_EQ(harness.Hit(prompt, tenant), 531);
  }
  EXPECT_EQ(harness.store.stats().written_tokens, 512 + 256 * 20);
  EXPECT_EQ(harness.store.stats().evictable_blocks, 32 + 256 * 2);
}

TEST(TenantScenario, T3NamesThatConcatenateAlike) {
  StoreHarness harness({.device_blocks = 64});
  harness.Run(Count(0, 40), Scope::Tenant("ab", "c"));
  EXPECT_EQ(harness.Hit(Count(0, 40), Scope::Tenant("ab", "c")), 39);
  EXPECT_EQ(harness.Hit(Count(0, 40), Scope::Tenant("a", "bc")), 0);
  EXPECT_EQ(harness.Hit(Count(0, 40), Scope::Tenant("abc")), 0);
  EXPECT_EQ(harness.Hit(Count(0, 40), Scope::Tenant("", "abc")), 0);
  EXPECT_EQ(harness.Hit(Count(0, 40)), 0) << "a tenant's own prefix is not public";
}

TEST(TenantScenario, EmptyTenantNameIsNotPublic) {
  StoreHarness harness({.device_blocks = 64});
  harness.Run(Count(0, 40), Scope::Tenant(""));
  EXPECT_EQ(harness.Hit(Count(0, 40)), 0);
  EXPECT_EQ(harness.Hit(Count(0, 40), Scope::Tenant("")), 39);
}

TEST(TenantScenario, OwnBranchDeeperThanThePublicOneIsFollowed) {
  StoreHarness harness({.device_blocks = 64});
  harness.Run(Count(0, 160), kA);
  harness.Run(Count(0, 80));  // public later, and shorter
  EXPECT_EQ(harness.Hit(Count(0, 160), kA), 159);
  EXPECT_EQ(harness.Hit(Count(0, 160), kB), 80);
  EXPECT_EQ(harness.Hit(Count(0, 85), kA), 84);
}

TEST(TenantScenario, PublicBranchDeeperThanTheOwnOneIsFollowed) {
  StoreHarness harness({.device_blocks = 64});
  harness.Run(Count(0, 80), kA);
  harness.Run(Count(0, 160));
  EXPECT_EQ(harness.Hit(Count(0, 160), kA), 159);
  EXPECT_EQ(harness.Run(Count(0, 160) + Count(900, 20), kA), 160);
  EXPECT_EQ(harness.Hit(Count(0, 160) + Count(900, 20), kA), 179);
  EXPECT_EQ(harness.Hit(Count(0, 160) + Count(900, 20), kB), 160);
}

TEST(TenantScenario, TwoTenantsFillTheSameBlockApart) {
  StoreHarness harness({.device_blocks = 64});
  harness.Run(Count(0, 20));
  Running a = harness.Start(Count(0, 24), kA);
  Running b = harness.Start(Count(0, 24), kB);
  EXPECT_EQ(a.hit(), 20);
  EXPECT_EQ(b.hit(), 20);
  harness.Generate(a, Count(100, 20));
  harness.Generate(b, Count(100, 20));
  EXPECT_NE(a.blocks.slots()[1], b.blocks.slots()[1]);
  EXPECT_EQ(harness.Hit(Count(0, 24) + Count(100, 20)), 20);
}

TEST(TenantScenario, ScopesThatNothingUsesAreForgotten) {
  StoreHarness harness({.device_blocks = 4});
  for (int i = 0; i < 100; ++i) harness.Run(Count(i, 20), Scope::Tenant("acme", "salt " + std::to_string(i)));
  EXPECT_EQ(harness.Hit(Count(99, 20), Scope::Tenant("acme", "salt 99")), 19);
  EXPECT_EQ(harness.Lookup(Count(0, 20), Scope::Tenant("acme", "salt 0")).matched_tokens, 0);
}

}  // namespace
}  // namespace headstart::testing
