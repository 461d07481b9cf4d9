#include "gateway/services/call_guard.h"

#include "fmt/format.h"
#include "gateway/errors/error_details.h"
#include "gateway/errors/grpc_status.h"

namespace headstart {

absl::Status CheckModel(const ServiceContext& context, const std::string& name) {
  if (name.empty() || name == context.model_name) return absl::OkStatus();
  return WithReason(absl::NotFoundError(fmt::format("model \"{}\" is not served here; this server runs \"{}\"", name,
                                                    context.model_name)),
                    "MODEL_NOT_FOUND");
}

absl::Status RequireOperator(const Caller& caller, std::string_view what) {
  if (caller.role == Role::kOperator) return absl::OkStatus();
  const std::string why =
      caller.key_id.empty()
          ? fmt::format("{} is for operators: on a server that asks for no credential, callers on its own machine",
                        what)
          : fmt::format("{} is for operators, and \"{}\" has the role user", what, caller.key_id);
  return WithReason(absl::PermissionDeniedError(why), "NOT_AN_OPERATOR");
}

grpc::ServerUnaryReactor* Finished(grpc::CallbackServerContext& call, const absl::Status& status) {
  grpc::ServerUnaryReactor* reactor = call.DefaultReactor();
  reactor->Finish(ToGrpcStatus(status));
  return reactor;
}

}  // namespace headstart
