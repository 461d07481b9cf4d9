// What every client of the command line shares: a connection to a server, and errors that say what to do.
//
// Thread-safety: const methods and free functions may be called from any thread.
//
//   Connection connection(flags.client);
//   auto stub = v1::AdminService::NewStub(connection.channel());
//   if (const grpc::Status status = stub->GetStatus(...); !status.ok()) return connection.Explain(status);

#ifndef HEADSTART_GATEWAY_CLI_CONNECTION_H_
#define HEADSTART_GATEWAY_CLI_CONNECTION_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "grpcpp/channel.h"
#include "grpcpp/support/status.h"

namespace headstart {

// Where a server is, how it is known for the right one, and as whom it is called.
struct ServerAccess {
  std::string server = "127.0.0.1:8700";
  bool tls = false;         // against the system's certificate authorities, unless tls_ca names another; implied by it
  std::string tls_ca = {};  // a PEM file
  std::string tls_cert = {};  // with tls_key: the client's own certificate, as PEM files
  std::string tls_key = {};
  std::string api_key = {};
  std::string api_key_file = {};    // is read in place of api_key; spaces and line ends around the key do not count
  bool insecure_plaintext = false;  // sends the key to other machines though the connection is not encrypted
};

// How far a call had come when it ended.
enum class CallProgress { kNothingHeard, kAnswerBegun };

class Connection {
 public:
  // Connects when the first call is made. Takes answers of any size.
  explicit Connection(const ServerAccess& access);

  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

  // The status of a call, details as payloads; UNAVAILABLE saying how to start a server when none answers, or
  // that it went away in the middle of its answer. When `access` cannot be used, such as for a file that is not there,
  // every call fails and this says why.
  absl::Status Explain(const grpc::Status& status, CallProgress progress = CallProgress::kNothingHeard) const;

 private:
  ServerAccess access_;
  absl::Status usable_;
  std::shared_ptr<grpc::Channel> channel_;
};

// In the clear, and without a credential: for servers in this process.
std::shared_ptr<grpc::Channel> ConnectTo(const std::string& address);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_CLI_CONNECTION_H_
