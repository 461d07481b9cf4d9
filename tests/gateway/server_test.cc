// The listening side: health, draining, reflection, addresses.

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "fmt/format.h"
#include "gateway/server/grpc_server.h"
#include "gmock/gmock.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/generic/generic_stub.h"
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
  for (const char* name : {"InferenceService", "PrefixService", "AdminService"}) {
    EXPECT_EQ(HealthOf(served, fmt::format("headstart.v1.{}", name)), health::HealthCheckResponse::SERVING) << name;
  }
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
  v1::CreatePrefixResponse created;
  v1::ListPrefixesResponse listed;
  EXPECT_EQ(ReasonOf(Call(served.prefixes(), &v1::PrefixService::Stub::CreatePrefix, {}, created)), "SERVER_STOPPING");
  EXPECT_TRUE(Call(served.prefixes(), &v1::PrefixService::Stub::ListPrefixes, {}, listed).ok());
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

// Listens on a Unix socket whose file is gone when it is.
class UnixListener {
 public:
  explicit UnixListener(std::string path) : path_(std::move(path)), fd_(socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un name{.sun_family = AF_UNIX, .sun_path = {}};
    path_.copy(name.sun_path, sizeof(name.sun_path) - 1);
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
    EXPECT_EQ(listen(fd_, 1), 0);
  }
  ~UnixListener() {
    Die();
    unlink(path_.c_str());
  }
  UnixListener(const UnixListener&) = delete;
  UnixListener& operator=(const UnixListener&) = delete;

  // As a process does that ends without tidying up: its file stays.
  void Die() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  std::string path_;
  int fd_;
};

std::string SocketPath(const std::string& name) { return ::testing::TempDir() + name + std::to_string(getpid()); }

TEST(ServerTest, UnixSocketInUseIsNotTakenOver) {
  const std::string path = SocketPath("in_use");
  UnixListener other(path);
  EXPECT_THAT(GrpcServer::Start({.listen = "unix:" + path}, {}),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr(path)));
  other.Die();
  EXPECT_OK(GrpcServer::Start({.listen = "unix:" + path}, {}));
}

TEST(ServerTest, UnixSocketThatCannotBeSaysWhy) {
  const std::string file = SocketPath("file");
  std::ofstream(file) << "kept";
  const std::string folder = SocketPath("missing") + "/";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {file, "not a socket"}, {folder + "s", folder}, {"/tmp/" + std::string(200, 'x'), "at most 107"}};
  for (const auto& [path, why] : cases) {
    EXPECT_THAT(GrpcServer::Start({.listen = "unix:" + path}, {}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(why)));
  }
  EXPECT_EQ(std::filesystem::file_size(file), 4);
  std::filesystem::remove(file);
}

// What an int of gRPC cannot hold is refused or means never; it does not wrap.
TEST(ServerTest, OptionsBeyondGrpcsRange) {
  for (const int64_t bytes : {int64_t{0}, int64_t{1} << 31, int64_t{1} << 32}) {
    EXPECT_THAT(GrpcServer::Start({.listen = "127.0.0.1:0", .max_request_bytes = bytes}, {}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--max-request-size")));
  }
  EXPECT_THAT(GrpcServer::Start({.listen = "127.0.0.1:0", .keepalive_time = absl::ZeroDuration()}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--keepalive-time")));
  EXPECT_OK(GrpcServer::Start({.listen = "127.0.0.1:0", .keepalive_time = absl::InfiniteDuration()}, {}));
}

// The status of a unary call whose request is those bytes.
grpc::Status CallWithBytes(ServedEngine& served, const std::string& method, const std::string& bytes) {
  grpc::GenericStub stub(Connect(served.host().server().address()));
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  grpc::Slice slice(bytes);
  auto call = stub.PrepareUnaryCall(&context, method, grpc::ByteBuffer(&slice, 1), &queue);
  grpc::ByteBuffer response;
  grpc::Status status;
  call->StartCall();
  call->Finish(&response, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  EXPECT_TRUE(queue.Next(&tag, &ok));
  return status;
}

TEST(ServerTest, RequestThatCannotBeParsedIsSaidToBeMalformed) {
  ServedEngine served(std::make_unique<FakeEngine>());
  for (const char* method : {"Generate", "CountTokens", "ListModels"}) {
    const grpc::Status status =
        CallWithBytes(served, fmt::format("/headstart.v1.InferenceService/{}", method), "\x0a\xff\xff");
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << method;
    EXPECT_EQ(ReasonOf(status), "MALFORMED_REQUEST");
    EXPECT_THAT(status.error_message(), HasSubstr(method));
  }
  const std::string request_id_not_utf8 = "\x5a\x01\xff";
  EXPECT_EQ(ReasonOf(CallWithBytes(served, "/headstart.v1.InferenceService/Generate", request_id_not_utf8)),
            "MALFORMED_REQUEST");
  EXPECT_EQ(CallWithBytes(served, "/headstart.v1.InferenceService/Nothing", "").error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
}

TEST(ServerTest, OpenServerStaysOnThisMachineUnlessToldOtherwise) {
  ServiceHostOptions options;
  options.grpc.listen = "0.0.0.0:0";
  options.http.listen = "127.0.0.1:0";
  EXPECT_THAT(ServiceHost::CheckOptions(options, CallerAccess::kOpen),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("--insecure-open")));
  EXPECT_OK(ServiceHost::CheckOptions(options, CallerAccess::kByCredential));
  options.insecure_open = true;
  EXPECT_OK(ServiceHost::CheckOptions(options, CallerAccess::kOpen));

  // The HTTP side is held to the same.
  options = {};
  options.grpc.listen = "127.0.0.1:0";
  options.http.listen = "0.0.0.0:0";
  EXPECT_THAT(ServiceHost::CheckOptions(options, CallerAccess::kOpen),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("--insecure-open")));
  EXPECT_OK(ServiceHost::CheckOptions(options, CallerAccess::kByCredential));
}

// gRPC would unpack them before it asks how large they are.
TEST(ServerTest, CompressedMessagesAreRefusedPacked) {
  ServedEngine served(std::make_unique<FakeEngine>());
  auto stub = v1::InferenceService::NewStub(Connect(served.host().server().address()));
  for (const grpc_compression_algorithm algorithm : {GRPC_COMPRESS_GZIP, GRPC_COMPRESS_DEFLATE}) {
    grpc::ClientContext context;
    context.set_compression_algorithm(algorithm);
    v1::CountTokensRequest request;
    request.mutable_input()->mutable_text()->set_text(std::string(8 << 20, 'x'));
    v1::CountTokensResponse response;
    EXPECT_EQ(stub->CountTokens(&context, request, &response).error_code(), grpc::StatusCode::UNIMPLEMENTED);
  }
}

TEST(ServerTest, MetadataOfProxiesIsTaken) {
  ServedEngine served(std::make_unique<FakeEngine>());
  auto stub = v1::InferenceService::NewStub(Connect(served.host().server().address()));
  grpc::ClientContext context;
  context.AddMetadata("x-forwarded-client-cert", std::string(24 << 10, 'x'));
  v1::ListModelsResponse response;
  EXPECT_TRUE(stub->ListModels(&context, {}, &response).ok());
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
  engine->SetMatch({.matched_tokens = 2,
                    .by_tier = {.host = 1, .disk = 1},
                    .pending_tokens = 1,
                    .miss_reason = MissReason::kOtherTenant});
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
  EXPECT_EQ(response.split().cached_by_tier().device(), 0);
  EXPECT_EQ(response.split().cached_by_tier().host(), 1);
  EXPECT_EQ(response.split().cached_by_tier().disk(), 1);
  EXPECT_EQ(response.pending_tokens(), 1);
  EXPECT_EQ(response.split().miss_reason(), v1::MISS_REASON_NEW);  // nothing is said of other tenants
}

}  // namespace
}  // namespace headstart::testing
