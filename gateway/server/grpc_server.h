// GrpcServer: a listening gRPC server with health checking and reflection.
//
// Thread-safety: every method may be called from any thread.
// Ownership: borrows the services; they outlive it. Destruction shuts it down at once.
// Errors: Start gives ALREADY_EXISTS when the port is in use, INVALID_ARGUMENT for an address that is none.
//
//   auto server = GrpcServer::Start({.listen = "127.0.0.1:0"}, {{&inference, "headstart.v1.InferenceService"}});
//   (*server)->SetServing(false);              // load balancers turn away
//   (*server)->Shutdown(absl::Seconds(5));     // GOAWAY, then what still runs is cancelled

#ifndef HEADSTART_GATEWAY_SERVER_GRPC_SERVER_H_
#define HEADSTART_GATEWAY_SERVER_GRPC_SERVER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gateway/server/call_observer.h"
#include "gateway/tls/tls_server_credentials.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"

namespace headstart {

inline constexpr absl::Duration kLargestMinPingInterval = absl::Seconds(30);

struct GrpcServerOptions {
  std::string listen = "127.0.0.1:8700";
  // Above the 4 MiB of text that a prompt may have, also when every byte of it is escaped.
  int64_t max_request_bytes = 16 << 20;
  // Clients may ping every 10 s, also without calls; half of that leaves room for early ones.
  absl::Duration keepalive_min_ping_interval = absl::Seconds(5);
  absl::Duration keepalive_time = absl::Seconds(60);
  absl::Duration keepalive_timeout = absl::Seconds(20);
  int max_streams_per_connection = 4096;
  // Empty: connections are not encrypted. Asked at every handshake, until the server is gone.
  TlsSource tls = nullptr;
  CallObserver* calls = nullptr;  // hears how calls end
};

// INVALID_ARGUMENT naming the flag of the first value that gRPC would not take as it is meant.
absl::Status CheckGrpcServerOptions(const GrpcServerOptions& options);

struct NamedService {
  grpc::Service* service;
  std::string name;  // as in its .proto, package included: what health checks ask for
};

class GrpcServer {
 public:
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Start(const GrpcServerOptions& options,
                                                           const std::vector<NamedService>& services);
  ~GrpcServer();
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  // Where it listens, with the port that was chosen.
  const std::string& address() const { return address_; }

  // What health checks say of the server as a whole and of each service.
  void SetServing(bool serving);

  // Takes no more calls, waits up to `grace` for running ones, then cancels them; returns when all have ended.
  void Shutdown(absl::Duration grace);

  // A channel that stays inside the process.
  std::shared_ptr<grpc::Channel> InProcessChannel();

 private:
  GrpcServer(std::shared_ptr<grpc::ServerCredentials> credentials, std::unique_ptr<grpc::Server> server,
             std::string address, std::vector<std::string> names);

  std::shared_ptr<grpc::ServerCredentials> credentials_;  // the server asks them until it is gone
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
  std::vector<std::string> names_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVER_GRPC_SERVER_H_
