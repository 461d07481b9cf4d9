// What a file of API keys may say, and how it is refused.

#include <string>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "gateway/auth/key_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Hex(std::string_view key) { return ToHex(DigestOf(key)); }

TEST(ApiKeyTest, IsTheDigestOfItsText) {
  EXPECT_EQ(Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");  // FIPS 180-2, B.1
}

TEST(ApiKeyTest, HoldsAllTheRandomBits) {
  const SecureRandom counting = [](std::span<unsigned char> bytes) {
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i);
    return true;
  };
  ASSERT_OK_AND_ASSIGN(const std::string key, NewApiKey(counting));
  EXPECT_EQ(key, "hsk_000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
  ASSERT_OK_AND_ASSIGN(const std::string other, NewApiKey());
  ASSERT_OK_AND_ASSIGN(const std::string another, NewApiKey());
  EXPECT_NE(other, another);
}

TEST(ApiKeyTest, WithoutRandomnessThereIsNone) {
  EXPECT_THAT(NewApiKey([](std::span<unsigned char>) { return false; }),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("random")));
}

TEST(ApiKeyTest, DigestsAreParsedWholeOrNotAtAll) {
  const std::string hex = Hex("abc");
  EXPECT_EQ(ParseDigest(hex), DigestOf("abc"));
  EXPECT_EQ(ParseDigest("BA7816BF" + hex.substr(8)), DigestOf("abc"));
  for (std::string bad : {hex.substr(1), hex + "0", std::string(), "0x" + hex.substr(2), "-1" + hex.substr(2),
                          "g" + hex.substr(1), " " + hex.substr(1), hex.substr(0, 63) + " "}) {
    EXPECT_EQ(ParseDigest(bad), std::nullopt) << bad;
  }
}

TEST(KeyTableTest, KeysCertificatesAndBudgets) {
  ASSERT_OK_AND_ASSIGN(const KeyTable table, KeyTable::Parse(fmt::format(R"(
# who may call
keys:
  - id: ci           # the build
    tenant: acme
    sha256: {}
  - {{id: ops, tenant: platform, role: operator, sha256: "{}", expires: 2027-01-31T12:00:00+02:00}}
certificates:
  - {{id: billing, tenant: acme, san_uri: "spiffe://example.org/billing"}}
  - {{id: legacy, tenant: acme, role: user, subject_common_name: legacy.internal}}
tenants:
  acme: {{budget: {{period: day, currency: USD, soft: 80, hard: 100.000000001}}}}
)",
                                                                         Hex("one"), Hex("two"))));
  const KeyEntry* ci = table.FindKey(DigestOf("one"));
  ASSERT_NE(ci, nullptr);
  EXPECT_EQ(ci->caller, (Caller{.tenant = "acme", .role = Role::kTenant, .key_id = "ci"}));
  EXPECT_EQ(ci->expires, absl::InfiniteFuture());
  const KeyEntry* ops = table.FindKey(DigestOf("two"));
  ASSERT_NE(ops, nullptr);
  EXPECT_EQ(ops->caller, (Caller{.tenant = "platform", .role = Role::kOperator, .key_id = "ops"}));
  EXPECT_EQ(absl::FormatTime(absl::RFC3339_sec, ops->expires, absl::UTCTimeZone()), "2027-01-31T10:00:00+00:00");
  EXPECT_EQ(table.FindKey(DigestOf("three")), nullptr);
  EXPECT_EQ(table.FindKey(KeyDigest{}), nullptr);

  const CertificateName uri{CertificateNameKind::kUri, "spiffe://example.org/billing"};
  ASSERT_NE(table.FindCertificate(uri), nullptr);
  EXPECT_EQ(table.FindCertificate(uri)->key_id, "billing");
  // A name of one kind is not one of the other.
  EXPECT_EQ(table.FindCertificate({CertificateNameKind::kCommonName, uri.value}), nullptr);
  EXPECT_NE(table.FindCertificate({CertificateNameKind::kCommonName, "legacy.internal"}), nullptr);

  const auto budget = table.BudgetOf("acme");
  ASSERT_TRUE(budget.has_value());
  EXPECT_EQ(*budget, (TenantBudget{.period = BudgetPeriod::kDay,
                                   .currency = "USD",
                                   .soft_nanos = 80'000'000'000,
                                   .hard_nanos = 100'000'000'001}));
  EXPECT_EQ(table.BudgetOf("platform"), std::nullopt);
  EXPECT_THAT(table.warnings(), IsEmpty());
}

TEST(KeyTableTest, NobodyMayHaveAKey) {
  for (const char* text : {"keys:\n", "keys: []\n", "keys: ~\ncertificates:\n"}) {
    ASSERT_OK_AND_ASSIGN(const KeyTable table, KeyTable::Parse(text));
    EXPECT_THAT(table.keys(), IsEmpty());
  }
}

TEST(KeyTableTest, BudgetWithoutKeyIsAWarning) {
  ASSERT_OK_AND_ASSIGN(const KeyTable table,
                       KeyTable::Parse("keys:\ntenants:\n  acmee:\n    budget: {currency: USD, hard: 1}\n"));
  EXPECT_THAT(table.warnings(), ElementsAre(AllOf(HasSubstr("line 4"), HasSubstr("acmee"))));
}

// Each with the line that its message names, and a word of why.
TEST(KeyTableTest, RefusedWithTheLine) {
  const std::string hex = Hex("k");
  struct Case {
    std::string text;
    int line;
    std::string why;
  };
  const std::vector<Case> cases = {
      {"keys:\n- {id: a, tenent: t, sha256: " + hex + "}\n", 2, "unknown field \"tenent\"; known are id, tenant"},
      {"keyz: []\n", 1, "unknown field \"keyz\""},
      {"keys:\n- {id: a, id: b, tenant: t, sha256: " + hex + "}\n", 2, "\"id\" twice"},
      {"keys:\nkeys:\n", 2, "\"keys\" twice"},
      {"keys:\n- {tenant: t, sha256: " + hex + "}\n", 2, "no id"},
      {"keys:\n- {id: a, sha256: " + hex + "}\n", 2, "no tenant"},
      {"keys:\n- {id: a, tenant: '', sha256: " + hex + "}\n", 2, "empty"},
      {"keys:\n- {id: a, tenant: t}\n", 2, "no sha256"},
      {"keys:\n- {id: a, tenant: 'two words', sha256: " + hex + "}\n", 2, "not a name"},
      {"keys:\n- {id: a, tenant: [t], sha256: " + hex + "}\n", 2, "single value"},
      {"keys:\n- id: a\n  tenant: t\n  sha256: abc\n", 4, "64 hexadecimal"},
      {"keys:\n- id: a\n  tenant: t\n  sha256: " + hex + "\n  role: admin\n", 5, "neither user nor operator"},
      {"keys:\n- {id: a, tenant: t, sha256: " + hex + ", expires: tomorrow}\n", 2, "2027-01-31T00:00:00Z"},
      {"keys:\n- {id: a, tenant: t, sha256: " + hex + "}\n- {id: a, tenant: t, sha256: " + Hex("l") + "}\n", 3,
       "twice"},
      {"keys:\n- {id: a, tenant: t, sha256: " + hex + "}\n- {id: b, tenant: t, sha256: " + hex + "}\n", 3, "sha256 of"},
      {"keys: {a: b}\n", 1, "not a list"},
      {"keys:\n- a\n", 2, "not a map"},
      {"[]\n", 1, "not a map"},
      {"keys:\n- {id: a\n", 3, ""},
      {"keys:\ncertificates:\n- {id: c, tenant: t}\n", 3, "neither or both"},
      {"certificates:\n- {id: c, tenant: t, san_uri: u}\n- {id: d, tenant: t, san_uri: u}\n", 3, "same certificate"},
      {"keys:\n- {id: c, tenant: t, sha256: " + hex + "}\ncertificates:\n- {id: c, tenant: t, san_uri: u}\n", 4,
       "twice"},
      {"keys:\ntenants: {t: {budgets: {}}}\n", 2, "unknown field \"budgets\""},
      {"keys:\ntenants: {t: {budget: {period: week, currency: USD}}}\n", 2, "neither day nor month"},
      {"keys:\ntenants: {t: {budget: {hard: 1}}}\n", 2, "no currency"},
      {"keys:\ntenants: {t: {budget: {currency: USD}}}\n", 2, "one of them at least"},
      {"keys:\ntenants: {t: {budget: {currency: USD, hard: 1e3}}}\n", 2, "amount"},
      {"keys:\ntenants: {t: {budget: {currency: USD, soft: 2, hard: 1}}}\n", 2, "above hard"},
      {"keys:\ntenants: {t: {}, t: {}}\n", 2, "twice"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(KeyTable::Parse(c.text), StatusIs(absl::StatusCode::kInvalidArgument,
                                                  AllOf(HasSubstr(fmt::format("line {}: ", c.line)), HasSubstr(c.why))))
        << c.text;
  }
}

// A write that was cut short must not pass for a file in which nobody has a key.
TEST(KeyTableTest, AnEmptyFileIsRefused) {
  for (const char* text : {"", "\n", "# nothing\n", "---\n"}) {
    EXPECT_THAT(KeyTable::Parse(text), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("it is empty"))) << text;
  }
}

TEST(KeyTableTest, WhatIsNoYamlDoesNotEscape) {
  for (const std::string& text :
       {std::string("\t- :\n  - ]["), std::string("\0\1\2", 3), std::string("\xff\xfe"), std::string(100'000, '['),
        std::string("keys: *nothing\n"), std::string("? [a]\n: b\n"), std::string("!!binary x: y\n")}) {
    EXPECT_FALSE(KeyTable::Parse(text).ok()) << text.substr(0, 20);
  }
}

}  // namespace
}  // namespace headstart::testing
