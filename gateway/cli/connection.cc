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

absl::Status ExplainCall(const grpc::Status& status, const std::string& address, CallProgress progress) {
  // Statuses of our own server carry details; one without comes from the connection.
  const bool lost = status.error_code() == grpc::StatusCode::UNAVAILABLE && status.error_details().empty();
  if (!lost) return FromGrpcStatus(status);
  if (progress == CallProgress::kAnswerBegun) {
    return absl::UnavailableError(fmt::format(
        "the connection to {} was lost in the middle of the answer, which is not complete; ask again", address));
  }
  return absl::UnavailableError(fmt::format(
      "no server answers at {}; start one with `headstart serve`, or name its address with --server", address));
}

}  // namespace headstart
