// What the calls of every service check first: the model they name, and who may make them.
//
// Thread-safety: free functions.

#ifndef HEADSTART_GATEWAY_SERVICES_CALL_GUARD_H_
#define HEADSTART_GATEWAY_SERVICES_CALL_GUARD_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "gateway/services/service_context.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/server_callback.h"

namespace headstart {

// NOT_FOUND, unless `name` is empty or the model's.
absl::Status CheckModel(const ServiceContext& context, const std::string& name);

// PERMISSION_DENIED saying that `what`, such as "flushing the cache", is for operators, unless the caller is one.
absl::Status RequireOperator(const Caller& caller, std::string_view what);

// A unary call that ends now.
grpc::ServerUnaryReactor* Finished(grpc::CallbackServerContext& call, const absl::Status& status);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_CALL_GUARD_H_
