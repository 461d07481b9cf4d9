// InferenceService: headstart.v1.InferenceService over an Engine.
//
// Thread-safety: gRPC calls it from its own threads; no call blocks one. Checks that cost nothing run there; rendering
// and tokenizing run on the context's workers; generation runs on the engine's thread. Ownership: the context outlives
// the service, and the service outlives the gRPC server it is registered with.

#ifndef HEADSTART_GATEWAY_SERVICES_INFERENCE_SERVICE_H_
#define HEADSTART_GATEWAY_SERVICES_INFERENCE_SERVICE_H_

#include "gateway/services/input_encoder.h"
#include "gateway/services/service_context.h"
#include "headstart/v1/inference.grpc.pb.h"

namespace headstart {

class InferenceService final : public v1::InferenceService::CallbackService {
 public:
  explicit InferenceService(const ServiceContext& context);

  grpc::ServerWriteReactor<v1::GenerateResponse>* Generate(grpc::CallbackServerContext* call,
                                                           const v1::GenerateRequest* request) override;
  grpc::ServerUnaryReactor* CountTokens(grpc::CallbackServerContext* call, const v1::CountTokensRequest* request,
                                        v1::CountTokensResponse* response) override;
  grpc::ServerUnaryReactor* ListModels(grpc::CallbackServerContext* call, const v1::ListModelsRequest* request,
                                       v1::ListModelsResponse* response) override;

 private:
  absl::Status CheckCount(const v1::CountTokensRequest& request) const;

  const ServiceContext& context_;
  InputEncoder encoder_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_INFERENCE_SERVICE_H_
