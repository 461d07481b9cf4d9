// UsageService: headstart.v1.UsageService over a ledger.
//
// Thread-safety: gRPC calls it from its own threads; no call blocks one: the ledger is read on the context's workers.
// Ownership: context and ledger outlive the service, and the service outlives the gRPC server it is registered with.
//
// Who may see what: a caller sees its own tenant's usage, operators see everybody's.

#ifndef HEADSTART_GATEWAY_SERVICES_USAGE_SERVICE_H_
#define HEADSTART_GATEWAY_SERVICES_USAGE_SERVICE_H_

#include <string>

#include "gateway/ledger/ledger.h"
#include "gateway/services/service_context.h"
#include "headstart/v1/usage_service.grpc.pb.h"

namespace headstart {

class UsageService final : public v1::UsageService::CallbackService {
 public:
  UsageService(const ServiceContext& context, const Ledger& ledger) : context_(context), ledger_(ledger) {}

  grpc::ServerUnaryReactor* ListUsage(grpc::CallbackServerContext* call, const v1::ListUsageRequest* request,
                                      v1::ListUsageResponse* response) override;
  grpc::ServerWriteReactor<v1::ExportUsageResponse>* ExportUsage(grpc::CallbackServerContext* call,
                                                                 const v1::ExportUsageRequest* request) override;

 private:
  // Whose usage the caller of a request for `wanted` gets: empty is everybody's.
  absl::StatusOr<std::string> Visible(const grpc::CallbackServerContext& call, const std::string& wanted) const;

  const ServiceContext& context_;
  const Ledger& ledger_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_USAGE_SERVICE_H_
