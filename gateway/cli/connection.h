// What every client of the command line shares: a channel to a server, and errors that say what to do.
//
// Thread-safety: free functions.

#ifndef HEADSTART_GATEWAY_CLI_CONNECTION_H_
#define HEADSTART_GATEWAY_CLI_CONNECTION_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "grpcpp/channel.h"
#include "grpcpp/support/status.h"

namespace headstart {

// Connects when the first call is made. Takes answers of any size.
std::shared_ptr<grpc::Channel> ConnectTo(const std::string& address);

// How far a call had come when it ended.
enum class CallProgress { kNothingHeard, kAnswerBegun };

// The status of a call to the server at `address`, details as payloads; UNAVAILABLE saying how to start one when none
// answers, or that it went away in the middle of its answer.
absl::Status ExplainCall(const grpc::Status& status, const std::string& address,
                         CallProgress progress = CallProgress::kNothingHeard);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_CLI_CONNECTION_H_
