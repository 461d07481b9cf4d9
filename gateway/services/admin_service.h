// AdminService: headstart.v1.AdminService over an Engine. Operators alone may call it.
//
// Thread-safety: gRPC calls it from its own threads; no call blocks one. Ownership: the context outlives the service,
// and the service outlives the gRPC server it is registered with.

#ifndef HEADSTART_GATEWAY_SERVICES_ADMIN_SERVICE_H_
#define HEADSTART_GATEWAY_SERVICES_ADMIN_SERVICE_H_

#include <string_view>

#include "gateway/services/service_context.h"
#include "headstart/v1/admin.grpc.pb.h"

namespace headstart {

class AdminService final : public v1::AdminService::CallbackService {
 public:
  // Now is when the server starts.
  explicit AdminService(const ServiceContext& context);

  grpc::ServerUnaryReactor* GetStatus(grpc::CallbackServerContext* call, const v1::GetStatusRequest* request,
                                      v1::GetStatusResponse* response) override;
  grpc::ServerUnaryReactor* FlushCache(grpc::CallbackServerContext* call, const v1::FlushCacheRequest* request,
                                       v1::FlushCacheResponse* response) override;
  grpc::ServerUnaryReactor* PurgeTenant(grpc::CallbackServerContext* call, const v1::PurgeTenantRequest* request,
                                        v1::PurgeTenantResponse* response) override;
  grpc::ServerUnaryReactor* VerifyDisk(grpc::CallbackServerContext* call, const v1::VerifyDiskRequest* request,
                                       v1::VerifyDiskResponse* response) override;
  grpc::ServerUnaryReactor* ExplainMisses(grpc::CallbackServerContext* call, const v1::ExplainMissesRequest* request,
                                          v1::ExplainMissesResponse* response) override;

 private:
  absl::Status Admit(const grpc::CallbackServerContext& call, std::string_view what) const;

  const ServiceContext& context_;
  const absl::Time start_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_ADMIN_SERVICE_H_
