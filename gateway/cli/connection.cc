#include "gateway/cli/connection.h"

#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "fmt/format.h"
#include "gateway/errors/grpc_status.h"
#include "gateway/files/file_version.h"
#include "gateway/server/listen_address.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/support/client_interceptor.h"

namespace headstart {
namespace {

namespace hooks = grpc::experimental;

// Nothing listens there, ever.
constexpr char kNowhere[] = "ipv4:127.0.0.1:0";
constexpr std::string_view kSpace = " \t\r\n";

// Adds the key to every call: gRPC's own call credentials do so on encrypted connections alone.
class KeyAdder final : public hooks::Interceptor {
 public:
  explicit KeyAdder(const std::string& value) : value_(value) {}
  void Intercept(hooks::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(hooks::InterceptionHookPoints::PRE_SEND_INITIAL_METADATA)) {
      methods->GetSendInitialMetadata()->emplace("authorization", value_);
    }
    methods->Proceed();
  }

 private:
  const std::string& value_;
};

class KeyAdderFactory final : public hooks::ClientInterceptorFactoryInterface {
 public:
  explicit KeyAdderFactory(const std::string& key) : value_(fmt::format("Bearer {}", key)) {}
  hooks::Interceptor* CreateClientInterceptor(hooks::ClientRpcInfo*) override { return new KeyAdder(value_); }

 private:
  const std::string value_;
};

absl::Status ReadInto(const std::string& path, std::string& text) {
  if (path.empty()) return absl::OkStatus();
  auto read = ReadSmallFileOrPipe(path);
  if (!read.ok()) return read.status();
  text = *std::move(read);
  return absl::OkStatus();
}

absl::StatusOr<std::string> KeyOf(const ServerAccess& access) {
  std::string key = access.api_key;
  if (auto status = ReadInto(access.api_key_file, key); !status.ok()) return status;
  const size_t begin = key.find_first_not_of(kSpace);
  if (begin == std::string::npos) {
    if (access.api_key_file.empty()) return std::string();
    return absl::InvalidArgumentError(fmt::format("{} is empty; it has to hold an API key", access.api_key_file));
  }
  key = key.substr(begin, key.find_last_not_of(kSpace) - begin + 1);
  for (const char c : key) {
    if (c <= ' ' || c > '~') return absl::InvalidArgumentError("the API key has characters that no key has");
  }
  return key;
}

bool UsesTls(const ServerAccess& access) { return access.tls || !access.tls_ca.empty() || !access.tls_cert.empty(); }

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> CredentialsOf(const ServerAccess& access) {
  if (access.tls_cert.empty() != access.tls_key.empty()) {
    return absl::InvalidArgumentError("--tls-cert and --tls-key go together: a certificate and its key");
  }
  if (!UsesTls(access)) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions options;
  if (auto status = ReadInto(access.tls_ca, options.pem_root_certs); !status.ok()) return status;
  if (auto status = ReadInto(access.tls_cert, options.pem_cert_chain); !status.ok()) return status;
  if (auto status = ReadInto(access.tls_key, options.pem_private_key); !status.ok()) return status;
  return grpc::SslCredentials(options);
}

absl::Status CheckExposure(const ServerAccess& access) {
  const auto address = ParseListenAddress(access.server);
  if (UsesTls(access) || access.insecure_plaintext || (address.ok() && address->IsLoopback())) return absl::OkStatus();
  return absl::FailedPreconditionError(fmt::format(
      "the API key would go to {} over a connection that is not encrypted; use --tls or --tls-ca, or accept "
      "that with --insecure-plaintext",
      access.server));
}

// gRPC would take a name alone to mean port 443, and of a port that is none some bits.
absl::Status CheckPort(const std::string& server) {
  // A socket's path, or one of gRPC's own schemes.
  if (server.starts_with("unix") || server.find('/') != std::string::npos) return absl::OkStatus();
  const size_t colon = server.rfind(':');
  if (colon == std::string::npos) {
    return absl::InvalidArgumentError(fmt::format("--server {} names no port; write {}:8700", server, server));
  }
  int port = 0;
  if (absl::SimpleAtoi(server.substr(colon + 1), &port) && port >= 1 && port <= 65535) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("--server {} has a port that is none; write {}:8700", server, server.substr(0, colon)));
}

absl::StatusOr<std::shared_ptr<grpc::Channel>> Open(const ServerAccess& access) {
  if (auto status = CheckPort(access.server); !status.ok()) return status;
  const auto credentials = CredentialsOf(access);
  if (!credentials.ok()) return credentials.status();
  const auto key = KeyOf(access);
  if (!key.ok()) return key.status();
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  if (key->empty()) return grpc::CreateCustomChannel(access.server, *credentials, arguments);
  if (auto status = CheckExposure(access); !status.ok()) return status;
  std::vector<std::unique_ptr<hooks::ClientInterceptorFactoryInterface>> interceptors;
  interceptors.push_back(std::make_unique<KeyAdderFactory>(*key));
  return hooks::CreateCustomChannelWithInterceptors(access.server, *credentials, arguments, std::move(interceptors));
}

// What the connection itself came to: statuses of our own server carry details.
bool IsOfTheConnection(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::UNAVAILABLE && status.error_details().empty();
}

// What the server says of headers, as this program's user would do it.
absl::Status ExplainRefusal(const grpc::Status& status) {
  absl::Status refusal = FromGrpcStatus(status);
  if (!absl::IsUnauthenticated(refusal)) return refusal;
  return absl::UnauthenticatedError(fmt::format(
      "{}; this program takes the key from --api-key-file or the variable HEADSTART_API_KEY", status.error_message()));
}

absl::Status ExplainCall(const grpc::Status& status, const std::string& address, CallProgress progress) {
  if (!IsOfTheConnection(status)) return ExplainRefusal(status);
  if (progress == CallProgress::kAnswerBegun) {
    return absl::UnavailableError(fmt::format(
        "the connection to {} was lost in the middle of the answer, which is not complete; ask again", address));
  }
  return absl::UnavailableError(fmt::format(
      "no server answers at {} in the way it was called ({}); start one with `headstart serve`, name its address "
      "with --server, or, where it speaks TLS, its authority with --tls-ca",
      address, status.error_message()));
}

}  // namespace

Connection::Connection(const ServerAccess& access) : access_(access) {
  auto channel = Open(access);
  usable_ = channel.status();
  channel_ = channel.ok() ? *std::move(channel) : ConnectTo(kNowhere);
}

absl::Status Connection::Explain(const grpc::Status& status, CallProgress progress) const {
  if (!usable_.ok()) return usable_;
  if (IsOfTheConnection(status) && UsesTls(access_) && progress == CallProgress::kNothingHeard) {
    return absl::UnavailableError(
        fmt::format("no connection to {} came about: {}. Is a server there, with TLS, and a certificate for that name "
                    "from an authority that is trusted here (--tls-ca)?",
                    access_.server, status.error_message()));
  }
  return ExplainCall(status, access_.server, progress);
}

std::shared_ptr<grpc::Channel> ConnectTo(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

}  // namespace headstart
