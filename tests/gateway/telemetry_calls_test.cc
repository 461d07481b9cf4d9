// Calls are counted as their clients saw them end.

#include "gateway/errors/error_details.h"
#include "gateway/telemetry/call_metrics.h"
#include "gateway/telemetry/metrics_page.h"
#include "gmock/gmock.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/generic/generic_stub.h"
#include "gtest/gtest.h"
#include "tests/gateway/fake_engine.h"
#include "tests/gateway/rpc_testing.h"

namespace headstart::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CallMetricsTest : public ::testing::Test {
 protected:
  CallMetricsTest() {
    auto engine = std::make_unique<FakeEngine>();
    engine_ = engine.get();
    ServiceHostOptions options;
    options.grpc.calls = &calls_;
    served_.emplace(std::move(engine), options, std::make_unique<TokenAuthenticator>());
  }
  std::string Page() const { return MetricsPage({&calls_}).Render(); }

  // Bytes to a method, over the wire as it is.
  grpc::StatusCode CallRaw(const std::string& method, const std::string& bytes) {
    const auto channel = grpc::CreateChannel(served_->host().server().address(), grpc::InsecureChannelCredentials());
    grpc::GenericStub stub(channel);
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    const grpc::Slice slice(bytes);
    const auto call = stub.PrepareUnaryCall(&context, method, grpc::ByteBuffer(&slice, 1), &queue);
    call->StartCall();
    grpc::ByteBuffer answer;
    grpc::Status status;
    call->Finish(&answer, &status, nullptr);
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    return status.error_code();
  }

  CallMetrics calls_;
  FakeEngine* engine_ = nullptr;
  std::optional<ServedEngine> served_;
};

TEST_F(CallMetricsTest, AnswersAndRefusals) {
  v1::ListModelsResponse models;
  v1::GetStatusResponse status;
  for (int i = 0; i < 2; ++i) Call(served_->stub(), &v1::InferenceService::Stub::ListModels, {}, models, "acme");
  Call(served_->stub(), &v1::InferenceService::Stub::ListModels, {}, models);
  Call(served_->admin(), &v1::AdminService::Stub::GetStatus, {}, status, "acme");
  engine_->RefuseWith(WithReason(absl::UnavailableError("full"), "QUEUE_FULL"));
  Generate(served_->stub(), TextRequest("x"), "acme");
  EXPECT_THAT(Page(),
              AllOf(HasSubstr("{method=\"headstart.v1.InferenceService/ListModels\",code=\"OK\"} 2\n"),
                    HasSubstr("{method=\"headstart.v1.InferenceService/ListModels\",code=\"UNAUTHENTICATED\"} 1\n"),
                    HasSubstr("{method=\"headstart.v1.AdminService/GetStatus\",code=\"PERMISSION_DENIED\"} 1\n"),
                    HasSubstr("{method=\"headstart.v1.InferenceService/Generate\",code=\"UNAVAILABLE\"} 1\n")));
}

// The status that explains what is wrong with a request takes the place of gRPC's own before it is counted.
TEST_F(CallMetricsTest, MalformedRequestsCountAsWhatTheirClientsHear) {
  ASSERT_EQ(CallRaw("/headstart.v1.InferenceService/ListModels", "\xff\xff\xff"), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(Page(), HasSubstr("{method=\"headstart.v1.InferenceService/ListModels\",code=\"INVALID_ARGUMENT\"} 1\n"));
}

// Else whoever can reach the port could make labels without end.
TEST_F(CallMetricsTest, MethodsThatTheServerDoesNotHaveAreNoLabels) {
  ASSERT_EQ(CallRaw("/made.up.Service/Method", ""), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_THAT(Page(), Not(HasSubstr("made.up")));
}

}  // namespace
}  // namespace headstart::testing
