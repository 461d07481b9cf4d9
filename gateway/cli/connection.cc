#include "gateway/cli/connection.h"

#include "fmt/format.h"
#include "gateway/errors/grpc_status.h"
#include "grpcpp/create_channel.h"

namespace headstart {

std::shared_ptr<grpc::Channel> ConnectTo(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

absl::Status ExplainCall(const grpc::Status& status, const std::string& address) {
  // Statuses of our own server carry details; one without comes from the connection.
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE && status.error_details().empty()) {
    return absl::UnavailableError(fmt::format(
        "no server answers at {}; start one with `headstart serve`, or name its address with --server", address));
  }
  return FromGrpcStatus(status);
}

}  // namespace headstart
