// Misses explained over the API: what a tenant's own prompts say about where they begin to differ, and that nobody
// learns of another's.

#include "fmt/format.h"
#include "gateway/demo/embedded_model.h"
#include "gateway/demo/inventory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/gateway/rpc_testing.h"

namespace headstart::testing {
namespace {

using ::testing::HasSubstr;
using Stub = v1::AdminService::Stub;

class ExplainMissesTest : public ::testing::Test {
 protected:
  ExplainMissesTest()
      : served_(*Engine::Create(*OpenModel(EmbeddedDemoModel(), "demo"), {.kv_cache_bytes = 64 << 20}), {},
                std::make_unique<TokenAuthenticator>()) {}

  void Ask(const std::string& prompt, const std::string& tenant, bool read_cache = true) {
    v1::GenerateRequest request = TextRequest(prompt);
    request.set_max_tokens(1);
    request.mutable_cache()->set_read(read_cache);
    ASSERT_TRUE(Generate(served_.stub(), request, tenant).status.ok());
  }
  grpc::Status Explain(const std::string& caller, const std::string& tenant = "", int count = 0) {
    v1::ExplainMissesRequest request;
    request.set_tenant(tenant);
    request.set_max_explanations(count);
    return Call(served_.admin(), &Stub::ExplainMisses, request, answer_, caller);
  }

  // A date in front of long instructions: what a template writes every day anew.
  void AskOnDays(int days, const std::string& tenant) {
    const std::string instructions = MakeInventory(20).system_prompt;
    for (int day = 0; day < days; ++day) {
      Ask(fmt::format("You are helpful. Today is day {}. {}", 10 + day, instructions), tenant);
    }
  }

  ServedEngine served_;
  v1::ExplainMissesResponse answer_;
};

TEST_F(ExplainMissesTest, NamesTheTokenTheTextAndTheSaving) {
  AskOnDays(6, "acme");
  ASSERT_TRUE(Explain("acme").ok());
  EXPECT_EQ(answer_.remembered_requests(), 6);
  ASSERT_GE(answer_.explanations_size(), 1);
  const v1::MissExplanation& first = answer_.explanations(0);
  EXPECT_EQ(first.reason(), v1::MISS_REASON_DIVERGED);
  EXPECT_EQ(first.requests(), 5);
  EXPECT_GT(first.token(), 0);
  EXPECT_THAT(first.text_before(), HasSubstr("Today is day"));
  ASSERT_GE(first.divergences_size(), 2);
  EXPECT_GT(first.saved_by_moving_tokens(), 5 * 100);
  EXPECT_LE(first.saved_by_moving_tokens(), first.computed_tokens());
  // RecordingAccountant charges for what is computed: what is cached costs nothing.
  EXPECT_EQ(first.saved_by_moving().currency(), "TST");
  EXPECT_THAT(first.summary(), HasSubstr(fmt::format("at token {}", first.token())));
}

TEST_F(ExplainMissesTest, OtherTenantsAreForOperators) {
  AskOnDays(2, "acme");
  EXPECT_EQ(ReasonOf(Explain("other", "acme")), "NOT_AN_OPERATOR");
  ASSERT_TRUE(Explain("other").ok());
  EXPECT_EQ(answer_.remembered_requests(), 0);
  ASSERT_TRUE(Explain("operator", "acme").ok());
  EXPECT_EQ(answer_.remembered_requests(), 2);
}

// What another tenant has sent may not show, not even as a reason.
TEST_F(ExplainMissesTest, NothingOfAnotherTenantShows) {
  AskOnDays(3, "acme");
  const std::string instructions = MakeInventory(20).system_prompt;
  Ask(fmt::format("You are helpful. Today is day 10. {}", instructions), "other");
  ASSERT_TRUE(Explain("other").ok());
  ASSERT_EQ(answer_.explanations_size(), 1);
  EXPECT_EQ(answer_.explanations(0).reason(), v1::MISS_REASON_NEW);
  EXPECT_EQ(answer_.explanations(0).requests(), 1);
}

TEST_F(ExplainMissesTest, CachingOffIsItsOwnReason) {
  Ask("Where is the red lamp?", "acme", /*read_cache=*/false);
  ASSERT_TRUE(Explain("acme").ok());
  ASSERT_EQ(answer_.explanations_size(), 1);
  EXPECT_EQ(answer_.explanations(0).reason(), v1::MISS_REASON_CACHING_OFF);
}

TEST_F(ExplainMissesTest, FlushAndPurgeForget) {
  AskOnDays(2, "acme");
  AskOnDays(2, "other");
  v1::PurgeTenantRequest purge;
  purge.set_tenant("acme");
  v1::PurgeTenantResponse purged;
  ASSERT_TRUE(Call(served_.admin(), &Stub::PurgeTenant, purge, purged, "operator").ok());
  ASSERT_TRUE(Explain("acme").ok());
  EXPECT_EQ(answer_.remembered_requests(), 0);
  ASSERT_TRUE(Explain("other").ok());
  EXPECT_EQ(answer_.remembered_requests(), 2);
  v1::FlushCacheResponse flushed;
  ASSERT_TRUE(Call(served_.admin(), &Stub::FlushCache, {}, flushed, "operator").ok());
  ASSERT_TRUE(Explain("other").ok());
  EXPECT_EQ(answer_.remembered_requests(), 0);
}

TEST_F(ExplainMissesTest, CountIsChecked) {
  EXPECT_EQ(Explain("acme", "", 101).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Explain("acme", "", -1).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

}  // namespace
}  // namespace headstart::testing
