// The listening side: health, draining, reflection, addresses.

#include <thread>

#include "gateway/server/grpc_server.h"
#include "gmock/gmock.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "grpcpp/create_channel.h"
#include "gtest/gtest.h"
#include "tests/gateway/fake_engine.h"
#include "tests/gateway/rpc_testing.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

namespace health = ::grpc::health::v1;
using ::testing::HasSubstr;

std::shared_ptr<grpc::Channel> Connect(const std::string& address) {
  return grpc::CreateChannel(address, grpc::InsecureChannelCredentials());
}

health::HealthCheckResponse::ServingStatus HealthOf(ServedEngine& served, const std::string& service) {
  auto stub = health::Health::NewStub(Connect(served.host().server().address()));
  grpc::ClientContext context;
  health::HealthCheckRequest request;
  request.set_service(service);
  health::HealthCheckResponse response;
  const grpc::Status status = stub->Check(&context, request, &response);
  return status.ok() ? response.status() : health::HealthCheckResponse::SERVICE_UNKNOWN;
}

TEST(ServerTest, HealthKnowsEachService) {
  ServedEngine served(std::make_unique<FakeEngine>());
  EXPECT_EQ(HealthOf(served, ""), health::HealthCheckResponse::SERVING);
  EXPECT_EQ(HealthOf(served, "headstart.v1.InferenceService"), health::HealthCheckResponse::SERVING);
  EXPECT_EQ(HealthOf(served, "headstart.v1.Nothing"), health::HealthCheckResponse::SERVICE_UNKNOWN);
}

TEST(ServerTest, WhileDrainingRunningRequestsFinishAndNewOnesAreRefused) {
  auto owned = std::make_unique<FakeEngine>();
  FakeEngine* engine = owned.get();
  ServedEngine served(std::move(owned));
  Stream running;
  std::thread client([&] { running = Generate(served.stub(), TextRequest("x")); });
  auto submitted = engine->WaitForRequest();

  bool drained = false;
  served.host().Drain([&drained] { drained = true; });
  EXPECT_TRUE(engine->draining());
  EXPECT_EQ(HealthOf(served, ""), health::HealthCheckResponse::NOT_SERVING);
  EXPECT_EQ(HealthOf(served, "headstart.v1.InferenceService"), health::HealthCheckResponse::NOT_SERVING);
  const Stream refused = Generate(served.stub(), TextRequest("x"));
  EXPECT_EQ(refused.status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(ReasonOf(refused.status), "SERVER_STOPPING");
  EXPECT_FALSE(drained);

  submitted.sink->OnStarted({});
  submitted.sink->OnFinished(FinishReason::kStop, {}, {});
  client.join();
  EXPECT_TRUE(running.status.ok());
  engine->FinishDraining();
  EXPECT_TRUE(drained);
}

TEST(ServerTest, PortInUseIsAnErrorWithItsAddress) {
  ServedEngine first(std::make_unique<FakeEngine>());
  const std::string address = first.host().server().address();
  const auto second = GrpcServer::Start({.listen = address}, {});
  EXPECT_THAT(second, StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr(address)));
}

TEST(ServerTest, OpenServerStaysOnThisMachineUnlessToldOtherwise) {
  const auto open = OpenAuthenticator();
  ServiceHostOptions options;
  options.grpc.listen = "0.0.0.0:0";
  EXPECT_THAT(ServiceHost::CheckOptions(options, *open),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("--insecure-open")));
  EXPECT_OK(ServiceHost::CheckOptions(options, TokenAuthenticator()));
  options.insecure_open = true;
  EXPECT_OK(ServiceHost::CheckOptions(options, *open));
}

TEST(ServerTest, OversizedMessageIsRefused) {
  ServiceHostOptions options;
  options.grpc.max_request_bytes = 10'000;
  ServedEngine served(std::make_unique<FakeEngine>(), options);
  auto stub = v1::InferenceService::NewStub(Connect(served.host().server().address()));
  const Stream stream = Generate(*stub, TextRequest(std::string(20'000, 'x')));
  EXPECT_EQ(stream.status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST(ServerTest, ListModelsSaysWhatRuns) {
  ServedEngine served(std::make_unique<FakeEngine>(), {.model_name = "inventory"});
  grpc::ClientContext context;
  v1::ListModelsResponse response;
  ASSERT_TRUE(served.stub().ListModels(&context, {}, &response).ok());
  ASSERT_EQ(response.models_size(), 1);
  const v1::Model& model = response.models(0);
  EXPECT_EQ(model.name(), "inventory");
  EXPECT_EQ(model.architecture(), "llama");
  EXPECT_EQ(model.max_context_tokens(), 4096);
  EXPECT_EQ(model.vocab_size(), 464);
  EXPECT_EQ(model.kv_bytes_per_token(), 2048);
  EXPECT_EQ(model.fingerprint(), "00000000000000010000000000000002");
}

TEST(ServerTest, CountTokensAnswersWithThePrediction) {
  auto owned = std::make_unique<FakeEngine>();
  FakeEngine* engine = owned.get();
  engine->SetMatch({.matched_tokens = 2, .pending_tokens = 1, .miss_reason = MissReason::kOtherTenant});
  ServedEngine served(std::move(owned), {}, std::make_unique<TokenAuthenticator>());
  v1::CountTokensRequest request;
  request.mutable_input()->mutable_text()->set_text("Where is the red lamp?");
  request.set_include_token_ids(true);
  grpc::ClientContext context;
  context.AddMetadata("authorization", "acme");
  v1::CountTokensResponse response;
  ASSERT_TRUE(served.stub().CountTokens(&context, request, &response).ok());
  EXPECT_EQ(engine->last_predicted_scope(), Scope::Tenant("acme"));
  EXPECT_EQ(response.tokens(), 6);
  EXPECT_EQ(response.token_ids_size(), 6);
  EXPECT_EQ(response.split().cached_tokens(), 2);
  EXPECT_EQ(response.split().computed_tokens(), 4);
  EXPECT_EQ(response.pending_tokens(), 1);
  EXPECT_EQ(response.split().miss_reason(), v1::MISS_REASON_NEW);  // nothing is said of other tenants
}

}  // namespace
}  // namespace headstart::testing
