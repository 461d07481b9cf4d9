// PrefixService: headstart.v1.PrefixService over an Engine.
//
// Thread-safety: gRPC calls it from its own threads; no call blocks one. Inputs are encoded on the context's workers;
// the rest is answered from the engine's thread. Ownership: the context outlives the service, and the service outlives
// the gRPC server it is registered with and every call of the engine.
//
// Who may do what: a caller sees and changes the prefixes of its own tenant. It sees the public ones; operators alone
// create, change and delete those.

#ifndef HEADSTART_GATEWAY_SERVICES_PREFIX_SERVICE_H_
#define HEADSTART_GATEWAY_SERVICES_PREFIX_SERVICE_H_

#include <string>

#include "gateway/services/input_encoder.h"
#include "gateway/services/service_context.h"
#include "headstart/v1/prefix.grpc.pb.h"

namespace headstart {

class PrefixService final : public v1::PrefixService::CallbackService {
 public:
  explicit PrefixService(const ServiceContext& context);

  grpc::ServerUnaryReactor* CreatePrefix(grpc::CallbackServerContext* call, const v1::CreatePrefixRequest* request,
                                         v1::CreatePrefixResponse* response) override;
  grpc::ServerUnaryReactor* GetPrefix(grpc::CallbackServerContext* call, const v1::GetPrefixRequest* request,
                                      v1::GetPrefixResponse* response) override;
  grpc::ServerUnaryReactor* ListPrefixes(grpc::CallbackServerContext* call, const v1::ListPrefixesRequest* request,
                                         v1::ListPrefixesResponse* response) override;
  grpc::ServerUnaryReactor* UpdatePrefix(grpc::CallbackServerContext* call, const v1::UpdatePrefixRequest* request,
                                         v1::UpdatePrefixResponse* response) override;
  grpc::ServerUnaryReactor* DeletePrefix(grpc::CallbackServerContext* call, const v1::DeletePrefixRequest* request,
                                         v1::DeletePrefixResponse* response) override;

 private:
  absl::Status CheckCreate(const Caller& caller, const v1::CreatePrefixRequest& request) const;

  const ServiceContext& context_;
  InputEncoder encoder_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_PREFIX_SERVICE_H_
