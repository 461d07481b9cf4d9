#include "gateway/server/grpc_server.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "fmt/format.h"
#include "gateway/server/listen_address.h"
#include "gateway/server/malformed_requests.h"
#include "grpc/health/v1/health.pb.h"
#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/health_check_service_interface.h"
#include "grpcpp/server_builder.h"

namespace headstart {
namespace {

constexpr int kLargest = std::numeric_limits<int>::max();

// As much as the HTTP side takes of headers. With what is beyond it, gRPC 1.51 ends the other calls of the connection,
// too: its own 8 KiB are soon reached where proxies add theirs.
constexpr int kMostMetadataBytes = 32 << 10;

// The largest is gRPC's word for never.
int Milliseconds(absl::Duration duration) {
  return static_cast<int>(std::min<int64_t>(absl::ToInt64Milliseconds(duration), kLargest));
}

void Configure(const GrpcServerOptions& options, grpc::ServerBuilder& builder) {
  // Otherwise a second server on the same port starts, and the kernel deals connections to both.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.SetMaxReceiveMessageSize(static_cast<int>(options.max_request_bytes));
  // gRPC unpacks a message before it looks at its size, and before anybody is asked for a key: a few hundred kilobytes
  // would become gigabytes.
  for (const grpc_compression_algorithm algorithm : {GRPC_COMPRESS_DEFLATE, GRPC_COMPRESS_GZIP}) {
    builder.SetCompressionAlgorithmSupportStatus(algorithm, false);
  }
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMostMetadataBytes);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, options.max_streams_per_connection);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, Milliseconds(options.keepalive_time));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, Milliseconds(options.keepalive_timeout));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             Milliseconds(options.keepalive_min_ping_interval));
}

}  // namespace

absl::Status CheckGrpcServerOptions(const GrpcServerOptions& options) {
  if (options.max_request_bytes < 1 || options.max_request_bytes > kLargest) {
    return absl::InvalidArgumentError(fmt::format("--max-request-size is {} bytes; a message of gRPC has 1 to {}",
                                                  options.max_request_bytes, kLargest));
  }
  if (options.keepalive_time < absl::Milliseconds(1)) {
    return absl::InvalidArgumentError(fmt::format("--keepalive-time is {}; it is at least 1ms, or inf for never",
                                                  absl::FormatDuration(options.keepalive_time)));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(const GrpcServerOptions& options,
                                                              const std::vector<NamedService>& services) {
  auto address = ParseListenAddress(options.listen);
  if (!address.ok()) return address.status();
  if (auto status = CheckCanListen(*address); !status.ok()) return status;
  if (auto status = CheckGrpcServerOptions(options); !status.ok()) return status;

  grpc::EnableDefaultHealthCheckService(true);
  // gRPC answers health checks without their descriptor; with it in the program, reflection can describe them, too.
  grpc::health::v1::HealthCheckRequest::descriptor();
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  Configure(options, builder);
  std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> interceptors;
  interceptors.push_back(ExplainMalformedRequests());
  // The last hears what those before it have made of a status.
  if (options.calls != nullptr) interceptors.push_back(ObserveCalls(*options.calls));
  builder.experimental().SetInterceptorCreators(std::move(interceptors));
  int port = 0;
  auto credentials = options.tls ? TlsServerCredentials(options.tls) : grpc::InsecureServerCredentials();
  builder.AddListeningPort(address->ToString(), credentials, &port);
  std::vector<std::string> names = {""};
  for (const auto& [service, name] : services) {
    builder.RegisterService(service);
    names.push_back(name);
  }
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr || port == 0) {
    return absl::AlreadyExistsError(fmt::format("cannot listen on {}: it was taken meanwhile", options.listen));
  }
  if (!address->is_unix_socket) address->port = port;
  std::unique_ptr<GrpcServer> result(
      new GrpcServer(std::move(credentials), std::move(server), address->ToString(), std::move(names)));
  result->SetServing(true);
  return result;
}

GrpcServer::GrpcServer(std::shared_ptr<grpc::ServerCredentials> credentials, std::unique_ptr<grpc::Server> server,
                       std::string address, std::vector<std::string> names)
    : credentials_(std::move(credentials)),
      server_(std::move(server)),
      address_(std::move(address)),
      names_(std::move(names)) {}

GrpcServer::~GrpcServer() { Shutdown(absl::ZeroDuration()); }

void GrpcServer::SetServing(bool serving) {
  for (const std::string& name : names_) server_->GetHealthCheckService()->SetServingStatus(name, serving);
}

void GrpcServer::Shutdown(absl::Duration grace) {
  server_->Shutdown(std::chrono::system_clock::now() + absl::ToChronoMilliseconds(grace));
}

std::shared_ptr<grpc::Channel> GrpcServer::InProcessChannel() { return server_->InProcessChannel({}); }

}  // namespace headstart
