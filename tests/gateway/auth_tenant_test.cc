// T4: over gRPC, the tenant is the key's, whatever else a call says.

#include "fmt/format.h"
#include "gateway/auth/key_authenticator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/gateway/fake_engine.h"
#include "tests/gateway/rpc_testing.h"
#include "tests/testing/status.h"
#include "tests/testing/temporary_folder.h"

namespace headstart::testing {
namespace {

class KeyedServer : public ::testing::Test {
 protected:
  KeyedServer() {
    folder_.Write("keys.yaml",
                  fmt::format("keys:\n"
                              "- {{id: a, tenant: acme, sha256: {}}}\n"
                              "- {{id: g, tenant: globex, sha256: {}}}\n"
                              "- {{id: o, tenant: platform, role: operator, sha256: {}}}\n",
                              ToHex(DigestOf("key-a")), ToHex(DigestOf("key-g")), ToHex(DigestOf("key-o"))));
    keys_ = *KeyFile::Open(folder_.Path("keys.yaml"), [](FileNews, const std::string&) {});
    auto engine = std::make_unique<FakeEngine>();
    engine_ = engine.get();
    served_.emplace(std::move(engine), ServiceHostOptions{}, std::make_unique<KeyAuthenticator>(*keys_));
  }

  using Metadata = std::vector<std::pair<std::string, std::string>>;
  grpc::Status CountTokens(const Metadata& metadata, const v1::CountTokensRequest& request) {
    grpc::ClientContext context;
    for (const auto& [key, value] : metadata) context.AddMetadata(key, value);
    v1::CountTokensResponse response;
    return served_->stub().CountTokens(&context, request, &response);
  }

  TemporaryFolder folder_;
  std::unique_ptr<KeyFile> keys_;
  FakeEngine* engine_ = nullptr;
  std::optional<ServedEngine> served_;
};

v1::CountTokensRequest Count() {
  v1::CountTokensRequest request;
  request.mutable_input()->mutable_text()->set_text("x");
  return request;
}

TEST_F(KeyedServer, TheScopeIsTheKeys) {
  ASSERT_TRUE(CountTokens({{"authorization", "Bearer key-a"}}, Count()).ok());
  EXPECT_EQ(engine_->last_predicted_scope(), Scope::Tenant("acme"));
  ASSERT_TRUE(CountTokens({{"authorization", "Bearer key-g"}}, Count()).ok());
  EXPECT_EQ(engine_->last_predicted_scope(), Scope::Tenant("globex"));
}

TEST_F(KeyedServer, OtherMetadataHasNoPart) {
  for (const char* field : {"tenant", "x-tenant", "x-tenant-id", "scope", "x-scope", "cache-salt", "x-cache-salt",
                            "user", "organization", "openai-organization", "x-forwarded-user", "role", "peer"}) {
    ASSERT_TRUE(CountTokens({{"authorization", "Bearer key-a"}, {field, "globex"}}, Count()).ok()) << field;
    EXPECT_EQ(engine_->last_predicted_scope(), Scope::Tenant("acme")) << field;
  }
}

// What a message calls the tenant in fields that do not exist is dropped like any unknown field.
TEST_F(KeyedServer, UnknownFieldsHaveNoPart) {
  v1::CountTokensRequest request = Count();
  for (int number = 100; number < 120; ++number) {
    request.GetReflection()->MutableUnknownFields(&request)->AddLengthDelimited(number, "globex");
  }
  ASSERT_TRUE(CountTokens({{"authorization", "Bearer key-a"}}, request).ok());
  EXPECT_EQ(engine_->last_predicted_scope(), Scope::Tenant("acme"));
}

TEST_F(KeyedServer, EveryServiceAsksForAKey) {
  v1::GetStatusResponse status;
  v1::ListPrefixesResponse prefixes;
  EXPECT_EQ(ReasonOf(CountTokens({}, Count())), "CREDENTIAL_MISSING");
  EXPECT_EQ(ReasonOf(CountTokens({{"authorization", "Bearer nobody"}}, Count())), "CREDENTIAL_INVALID");
  EXPECT_EQ(Generate(served_->stub(), TextRequest("x")).status.error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(Call(served_->prefixes(), &v1::PrefixService::Stub::ListPrefixes, {}, prefixes).error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(Call(served_->admin(), &v1::AdminService::Stub::GetStatus, {}, status).error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(KeyedServer, TheRoleIsTheKeysToo) {
  v1::GetStatusResponse status;
  EXPECT_EQ(Call(served_->admin(), &v1::AdminService::Stub::GetStatus, {}, status, "Bearer key-a").error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_TRUE(Call(served_->admin(), &v1::AdminService::Stub::GetStatus, {}, status, "Bearer key-o").ok());
}

// A key that is revoked while its request runs: that one goes on, the next is refused.
TEST_F(KeyedServer, RunningRequestsGoOnWhenTheirKeyIsRevoked) {
  grpc::ClientContext context;
  context.AddMetadata("authorization", "Bearer key-a");
  const auto reader = served_->stub().Generate(&context, TextRequest("x"));
  auto submitted = engine_->WaitForRequest();
  EXPECT_EQ(submitted.request.scope, Scope::Tenant("acme"));
  folder_.Write("keys.yaml", "keys:\n");
  keys_->Refresh();
  submitted.sink->OnStarted({});
  submitted.sink->OnFinished(FinishReason::kStop, {}, {});
  v1::GenerateResponse event;
  while (reader->Read(&event)) continue;
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(ReasonOf(CountTokens({{"authorization", "Bearer key-a"}}, Count())), "CREDENTIAL_INVALID");
}

}  // namespace
}  // namespace headstart::testing
