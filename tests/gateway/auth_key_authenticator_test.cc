// Who a call is, by its key or its certificate, and what those hear who are nobody.

#include <atomic>
#include <thread>

#include "fmt/format.h"
#include "gateway/auth/key_authenticator.h"
#include "gateway/errors/grpc_status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/gateway/rpc_testing.h"
#include "tests/testing/status.h"
#include "tests/testing/temporary_folder.h"

namespace headstart::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Hex(std::string_view key) { return ToHex(DigestOf(key)); }

class KeyAuthenticatorTest : public ::testing::Test {
 protected:
  KeyAuthenticatorTest() {
    WriteKeys("");
    auto keys = KeyFile::Open(folder_.Path("keys.yaml"),
                              [this](FileNews, const std::string& event) { events_.push_back(event); });
    EXPECT_OK(keys);
    keys_ = *std::move(keys);
    authenticator_.emplace(*keys_, [this] { return now_; });
  }

  void WriteKeys(const std::string& more) {
    folder_.Write("keys.yaml", fmt::format(R"(keys:
  - {{id: ci, tenant: acme, sha256: {}}}
  - {{id: ops, tenant: platform, role: operator, sha256: {}}}
  - {{id: old, tenant: acme, sha256: {}, expires: 2026-01-01T00:00:00Z}}
{}
certificates:
  - {{id: billing, tenant: acme, san_uri: "spiffe://x/billing"}}
  - {{id: legacy, tenant: globex, subject_common_name: legacy}}
)",
                                           Hex("key-a"), Hex("key-o"), Hex("key-x"), more));
  }

  using Metadata = std::vector<std::pair<std::string_view, std::string_view>>;
  absl::StatusOr<Caller> Authenticate(Metadata metadata, std::vector<CertificateName> names = {}) {
    return authenticator_->Authenticate(
        {.metadata = std::move(metadata), .peer = "ipv4:10.0.0.1:5", .certificate_names = std::move(names)});
  }
  std::string ReasonFor(Metadata metadata) {
    return ReasonOf(ToGrpcStatus(Authenticate(std::move(metadata)).status()));
  }

  TemporaryFolder folder_;
  std::vector<std::string> events_;
  absl::Time now_ = absl::FromCivil(absl::CivilSecond(2025, 12, 31, 23, 59, 59), absl::UTCTimeZone());
  std::unique_ptr<KeyFile> keys_;
  std::optional<KeyAuthenticator> authenticator_;
};

TEST_F(KeyAuthenticatorTest, TheKeyDecides) {
  for (const char* value : {"Bearer key-a", "bearer key-a", "BEARER   key-a"}) {
    ASSERT_OK_AND_ASSIGN(const Caller caller, Authenticate({{"authorization", value}}));
    EXPECT_EQ(caller, (Caller{.tenant = "acme", .role = Role::kTenant, .key_id = "ci"})) << value;
  }
  ASSERT_OK_AND_ASSIGN(const Caller ops, Authenticate({{"x-api-key", "key-o"}}));
  EXPECT_EQ(ops, (Caller{.tenant = "platform", .role = Role::kOperator, .key_id = "ops"}));
  EXPECT_OK(Authenticate({{"x-api-key", "key-a"}, {"authorization", "Bearer key-a"}}));
  EXPECT_FALSE(authenticator_->is_open());
}

TEST_F(KeyAuthenticatorTest, NothingElseThatACallSaysDoes) {
  ASSERT_OK_AND_ASSIGN(const Caller caller, Authenticate({{"tenant", "platform"},
                                                          {"x-tenant", "platform"},
                                                          {"role", "operator"},
                                                          {"authorization", "Bearer key-a"},
                                                          {"scope", "public"}}));
  EXPECT_EQ(caller, (Caller{.tenant = "acme", .role = Role::kTenant, .key_id = "ci"}));
}

TEST_F(KeyAuthenticatorTest, RefusedWithAReason) {
  EXPECT_EQ(ReasonFor({}), "CREDENTIAL_MISSING");
  EXPECT_EQ(ReasonFor({{"cookie", "key-a"}}), "CREDENTIAL_MISSING");
  for (const char* value : {"", "Bearer", "Bearer ", "key-a", "Basic key-a", "Bearer: key-a", "Bearerkey-a",
                            "Bearer key-A", "Bearer key-a ", "Bearer key-", "Bearer nobody"}) {
    EXPECT_EQ(ReasonFor({{"authorization", value}}), "CREDENTIAL_INVALID") << value;
  }
  EXPECT_EQ(ReasonFor({{"x-api-key", ""}}), "CREDENTIAL_INVALID");
  EXPECT_EQ(ReasonFor({{"x-api-key", "key-a"}, {"authorization", "Bearer key-o"}}), "CREDENTIAL_INVALID");
  // What is wrong in one place is not made good in another.
  EXPECT_EQ(ReasonFor({{"x-api-key", "key-a"}, {"authorization", "Basic eDp5"}}), "CREDENTIAL_INVALID");
  EXPECT_EQ(authenticator_->failures().missing, 2);
  EXPECT_EQ(authenticator_->failures().invalid, 14);
}

TEST_F(KeyAuthenticatorTest, TheMessageDoesNotRepeatWhatWasShown) {
  for (const char* value : {"Bearer sesame-123", "Basic sesame-123", "sesame-123"}) {
    EXPECT_THAT(Authenticate({{"authorization", value}}),
                StatusIs(absl::StatusCode::kUnauthenticated, Not(HasSubstr("sesame"))));
  }
}

TEST_F(KeyAuthenticatorTest, ExpiresAtItsTime) {
  EXPECT_OK(Authenticate({{"x-api-key", "key-x"}}));
  now_ += absl::Seconds(1);
  EXPECT_EQ(ReasonFor({{"x-api-key", "key-x"}}), "CREDENTIAL_EXPIRED");
  EXPECT_THAT(Authenticate({{"x-api-key", "key-x"}}),
              StatusIs(absl::StatusCode::kUnauthenticated, AllOf(HasSubstr("old"), HasSubstr("2026-01-01"))));
  EXPECT_OK(Authenticate({{"x-api-key", "key-a"}}));
  EXPECT_EQ(authenticator_->failures().expired, 2);
}

TEST_F(KeyAuthenticatorTest, KeysComeAndGoWithoutARestart) {
  const auto unknown = Authenticate({{"x-api-key", "key-n"}}).status();
  WriteKeys(fmt::format("  - {{id: fresh, tenant: acme, sha256: {}}}", Hex("key-n")));
  keys_->Refresh();
  EXPECT_OK(Authenticate({{"x-api-key", "key-n"}}));
  WriteKeys("");
  keys_->Refresh();
  // One that was revoked hears what one hears that never was.
  EXPECT_EQ(Authenticate({{"x-api-key", "key-n"}}).status(), unknown);
}

TEST_F(KeyAuthenticatorTest, AWrongVersionChangesNothingAndIsSaid) {
  folder_.Write("keys.yaml", "keys:\n  - {id: ci}\n");
  keys_->Refresh();
  EXPECT_OK(Authenticate({{"x-api-key", "key-a"}}));
  EXPECT_THAT(events_, ElementsAre(AllOf(HasSubstr("keys.yaml: line 2"), HasSubstr("last good version"))));
}

TEST_F(KeyAuthenticatorTest, BudgetsAreThoseOfNow) {
  EXPECT_EQ(keys_->BudgetOf("acme"), std::nullopt);
  WriteKeys("tenants:\n  acme: {budget: {currency: USD, hard: 1}}\n");
  keys_->Refresh();
  ASSERT_TRUE(keys_->BudgetOf("acme").has_value());
  EXPECT_EQ(keys_->BudgetOf("acme")->hard_nanos, 1'000'000'000);
}

TEST_F(KeyAuthenticatorTest, CertificatesStandInForAKey) {
  const CertificateName billing{CertificateNameKind::kUri, "spiffe://x/billing"};
  const CertificateName legacy{CertificateNameKind::kCommonName, "legacy"};
  ASSERT_OK_AND_ASSIGN(const Caller caller, Authenticate({}, {billing}));
  EXPECT_EQ(caller, (Caller{.tenant = "acme", .role = Role::kTenant, .key_id = "billing"}));
  ASSERT_OK_AND_ASSIGN(const Caller other, Authenticate({}, {{CertificateNameKind::kUri, "legacy"}, legacy}));
  EXPECT_EQ(other.tenant, "globex");
  EXPECT_FALSE(Authenticate({}, {{CertificateNameKind::kUri, "legacy"}}).ok());
  EXPECT_FALSE(Authenticate({}, {{CertificateNameKind::kCommonName, "spiffe://x/billing"}}).ok());
  // A key that is shown decides, also when it is wrong.
  ASSERT_OK_AND_ASSIGN(const Caller with_key, Authenticate({{"x-api-key", "key-o"}}, {billing}));
  EXPECT_EQ(with_key.tenant, "platform");
  EXPECT_FALSE(Authenticate({{"x-api-key", "nobody"}}, {billing}).ok());
}

TEST_F(KeyAuthenticatorTest, IsAskedWhileTheFileChanges) {
  std::atomic<bool> done = false;
  std::thread asker([&] {
    while (!done) {
      if (!Authenticate({{"x-api-key", "key-a"}}).ok()) ADD_FAILURE();
    }
  });
  for (int i = 0; i < 200; ++i) {
    WriteKeys(i % 2 == 0 ? "# another" : "");
    keys_->Refresh();
  }
  done = true;
  asker.join();
}

TEST(KeyFileTest, AFileThatIsNotThereIsAnError) {
  EXPECT_THAT(KeyFile::Open("/nowhere/keys.yaml", [](FileNews, const std::string&) {}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/nowhere/keys.yaml")));
}

}  // namespace
}  // namespace headstart::testing
