#include "gateway/services/inference_service.h"

#include "absl/status/status.h"
#include "gateway/errors/grpc_status.h"
#include "gateway/services/call_guard.h"
#include "gateway/services/call_identity.h"
#include "gateway/services/convert.h"
#include "gateway/services/count_tokens_call.h"
#include "gateway/services/generate_call.h"
#include "gateway/services/inference_checks.h"

namespace headstart {
namespace {

class RefusedStream final : public grpc::ServerWriteReactor<v1::GenerateResponse> {
 public:
  explicit RefusedStream(const absl::Status& status) { Finish(ToGrpcStatus(status)); }
  void OnDone() override { delete this; }
};

}  // namespace

InferenceService::InferenceService(const ServiceContext& context)
    : context_(context), encoder_(context.engine, context.now) {}

absl::Status InferenceService::CheckCount(const v1::CountTokensRequest& request) const {
  absl::Status status = CheckModel(context_, request.model());
  status.Update(CheckInput(request.input(), context_.limits));
  return status;
}

grpc::ServerWriteReactor<v1::GenerateResponse>* InferenceService::Generate(grpc::CallbackServerContext* call,
                                                                           const v1::GenerateRequest* request) {
  auto caller = context_.authenticator.Authenticate(IdentityOf(*call));
  if (!caller.ok()) return new RefusedStream(caller.status());
  if (auto status = CheckGenerate(context_, *request); !status.ok()) return new RefusedStream(status);
  return GenerateCall::Start(context_, encoder_, *caller, *call, *request);
}

grpc::ServerUnaryReactor* InferenceService::CountTokens(grpc::CallbackServerContext* call,
                                                        const v1::CountTokensRequest* request,
                                                        v1::CountTokensResponse* response) {
  auto caller = context_.authenticator.Authenticate(IdentityOf(*call));
  if (!caller.ok()) return Finished(*call, caller.status());
  if (auto status = CheckCount(*request); !status.ok()) return Finished(*call, status);
  return CountTokensCall::Start(context_, encoder_, *caller, *request, *response);
}

grpc::ServerUnaryReactor* InferenceService::ListModels(grpc::CallbackServerContext* call, const v1::ListModelsRequest*,
                                                       v1::ListModelsResponse* response) {
  auto caller = context_.authenticator.Authenticate(IdentityOf(*call));
  if (caller.ok()) *response->add_models() = ToModel(context_.engine, context_.model_name);
  return Finished(*call, caller.status());
}

}  // namespace headstart
