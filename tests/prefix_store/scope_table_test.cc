#include "prefix_store/scope_table.h"

#include "gtest/gtest.h"

namespace headstart::testing {
namespace {

class ScopeTableTest : public ::testing::Test {
 protected:
  BlockHasher hasher_{64, 0};
  ScopeTable table_{hasher_};
};

TEST_F(ScopeTableTest, PublicNeedsNoEntry) {
  EXPECT_EQ(table_.Intern(Scope::Public()).id(), kPublicScope);
  EXPECT_EQ(table_.size(), 1);
}

TEST_F(ScopeTableTest, EqualScopesShareAnId) {
  const auto a = table_.Intern(Scope::Tenant("a", "x"));
  const auto b = table_.Intern(Scope::Tenant("a", "x"));
  EXPECT_EQ(a.id(), b.id());
  EXPECT_EQ(table_.Find(Scope::Tenant("a", "x")), a.id());
  EXPECT_NE(a.id(), kPublicScope);
}

TEST_F(ScopeTableTest, NamesThatConcatenateAlikeDiffer) {
  const auto a = table_.Intern(Scope::Tenant("ab", "c"));
  const auto b = table_.Intern(Scope::Tenant("a", "bc"));
  EXPECT_NE(a.id(), b.id());
  EXPECT_NE(table_.Salted(1, a.id()), table_.Salted(1, b.id()));
}

TEST_F(ScopeTableTest, UnknownScopeSeesThePublicOnly) { EXPECT_EQ(table_.Find(Scope::Tenant("nobody")), kPublicScope); }

TEST_F(ScopeTableTest, ForgottenWithItsLastUse) {
  {
    auto a = table_.Intern(Scope::Tenant("a"));
    auto copy = a.Copy();
    a = ScopeTable::Use();
    EXPECT_EQ(table_.Find(Scope::Tenant("a")), copy.id());
    const auto moved = std::move(copy);
    EXPECT_EQ(table_.size(), 2);
  }
  EXPECT_EQ(table_.size(), 1);
  EXPECT_EQ(table_.Find(Scope::Tenant("a")), kPublicScope);
}

TEST_F(ScopeTableTest, SaltOutlivesTheId) {
  uint64_t salted = 0;
  {
    const auto a = table_.Intern(Scope::Tenant("a"));
    salted = table_.Salted(5, a.id());
  }
  const auto b = table_.Intern(Scope::Tenant("b"));  // may take over the id
  EXPECT_EQ(table_.Salted(5, Scope::Tenant("a")), salted);
  EXPECT_NE(table_.Salted(5, b.id()), salted);
}

}  // namespace
}  // namespace headstart::testing
