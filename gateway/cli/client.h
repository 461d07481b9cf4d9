// Client: calls of the API for the command line. Blocking.
//
// Thread-safety: may be used from any thread.
// Errors: those of the server, details as payloads; UNAVAILABLE saying how to start one when none answers.

#ifndef HEADSTART_GATEWAY_CLI_CLIENT_H_
#define HEADSTART_GATEWAY_CLI_CLIENT_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gateway/cli/connection.h"
#include "headstart/v1/inference.grpc.pb.h"

namespace headstart {

// A whole answer.
struct Answer {
  v1::GenerateStarted started;
  v1::GenerateFinished finished;
  std::string text;
  absl::Duration time_to_first_text;  // as the client saw it
};

class Client {
 public:
  explicit Client(const ServerAccess& access);

  // `on_text` hears each piece as it comes.
  absl::StatusOr<Answer> Generate(const v1::GenerateRequest& request,
                                  const std::function<void(std::string_view)>& on_text = nullptr);
  absl::StatusOr<v1::CountTokensResponse> CountTokens(const v1::CountTokensRequest& request);
  absl::StatusOr<v1::ListModelsResponse> ListModels();

 private:
  Connection connection_;
  std::unique_ptr<v1::InferenceService::Stub> stub_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_CLI_CLIENT_H_
