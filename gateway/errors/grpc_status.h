// Between absl::Status and gRPC's: the one table of codes, and the details of error_details.h on the wire.
//
// Thread-safety: free functions over values.

#ifndef HEADSTART_GATEWAY_ERRORS_GRPC_STATUS_H_
#define HEADSTART_GATEWAY_ERRORS_GRPC_STATUS_H_

#include "absl/status/status.h"
#include "grpcpp/support/status.h"

namespace headstart {

// What a call ends with. ErrorInfo is always among the details: its reason is the one that was set, or the code's own
// name.
grpc::Status ToGrpcStatus(const absl::Status& status);

// The way back, for clients: details become payloads again.
absl::Status FromGrpcStatus(const grpc::Status& status);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_ERRORS_GRPC_STATUS_H_
