// Who is an operator of a server that asks for no credential.

#include "gateway/auth/authenticator.h"

#include "gtest/gtest.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

Role RoleOf(const std::string& peer) {
  const auto caller = OpenAuthenticator()->Authenticate({.metadata = {}, .peer = peer});
  return caller.ok() ? caller->role : Role::kTenant;
}

TEST(OpenAuthenticatorTest, CallersOnThisMachineAreOperators) {
  for (const char* peer : {"ipv4:127.0.0.1:5000", "ipv4:127.3.2.1:5000", "ipv6:[::1]:5000", "ipv6:%5B::1%5D:5000",
                           "unix:/tmp/s", "unix:", "inproc"}) {
    EXPECT_EQ(RoleOf(peer), Role::kOperator) << peer;
  }
}

TEST(OpenAuthenticatorTest, CallersFromElsewhereAreNot) {
  for (const char* peer : {"ipv4:10.0.0.1:5000", "ipv4:12.7.0.1:5000", "ipv6:[fe80::1]:5000", "ipv6:[::10]:5000",
                           "ipv6:%5B2001:db8::1%5D:5000", "", "127.0.0.1:5000"}) {
    EXPECT_EQ(RoleOf(peer), Role::kTenant) << peer;
  }
}

TEST(OpenAuthenticatorTest, NothingThatACallSaysMakesItAnotherTenant) {
  ASSERT_OK_AND_ASSIGN(const Caller caller,
                       OpenAuthenticator()->Authenticate(
                           {.metadata = {{"tenant", "acme"}, {"role", "operator"}}, .peer = "ipv4:10.0.0.1:5000"}));
  EXPECT_EQ(caller.tenant, "default");
  EXPECT_EQ(caller.role, Role::kTenant);
}

}  // namespace
}  // namespace headstart::testing
