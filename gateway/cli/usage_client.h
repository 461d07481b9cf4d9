// UsageClient: calls of UsageService for the command line. Blocking.
//
// Thread-safety: may be used from any thread.
// Errors: those of the server, details as payloads; UNAVAILABLE saying how to start one when none answers.

#ifndef HEADSTART_GATEWAY_CLI_USAGE_CLIENT_H_
#define HEADSTART_GATEWAY_CLI_USAGE_CLIENT_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "gateway/cli/connection.h"
#include "headstart/v1/usage_service.grpc.pb.h"

namespace headstart {

class UsageClient {
 public:
  explicit UsageClient(const ServerAccess& access);

  // All pages as one.
  absl::StatusOr<v1::ListUsageResponse> ListUsage(v1::ListUsageRequest request);

  // `on_entry` returns false when it wants no more.
  absl::Status ExportUsage(const v1::ExportUsageRequest& request,
                           const std::function<bool(const v1::UsageEntry&)>& on_entry);

 private:
  Connection connection_;
  std::unique_ptr<v1::UsageService::Stub> stub_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_CLI_USAGE_CLIENT_H_
