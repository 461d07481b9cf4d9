// CacheClient: calls of PrefixService and AdminService for the command line. Blocking.
//
// Thread-safety: may be used from any thread.
// Errors: those of the server, details as payloads; UNAVAILABLE saying how to start one when none answers.

#ifndef HEADSTART_GATEWAY_CLI_CACHE_CLIENT_H_
#define HEADSTART_GATEWAY_CLI_CACHE_CLIENT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "gateway/cli/connection.h"
#include "headstart/v1/admin.grpc.pb.h"
#include "headstart/v1/prefix.grpc.pb.h"

namespace headstart {

class CacheClient {
 public:
  explicit CacheClient(const ServerAccess& access);

  absl::StatusOr<v1::CreatePrefixResponse> CreatePrefix(const v1::CreatePrefixRequest& request);
  absl::StatusOr<v1::GetPrefixResponse> GetPrefix(const v1::GetPrefixRequest& request);
  // All pages.
  absl::StatusOr<v1::ListPrefixesResponse> ListPrefixes();
  absl::StatusOr<v1::DeletePrefixResponse> DeletePrefix(const v1::DeletePrefixRequest& request);

  absl::StatusOr<v1::GetStatusResponse> GetStatus();
  absl::StatusOr<v1::FlushCacheResponse> FlushCache();
  absl::StatusOr<v1::PurgeTenantResponse> PurgeTenant(const std::string& tenant);
  absl::StatusOr<v1::VerifyDiskResponse> VerifyDisk();

 private:
  template <typename Stub, typename Request, typename Response>
  absl::StatusOr<Response> Call(Stub& stub,
                                grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                                const Request& request) const;

  Connection connection_;
  std::unique_ptr<v1::PrefixService::Stub> prefixes_;
  std::unique_ptr<v1::AdminService::Stub> admin_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_CLI_CACHE_CLIENT_H_
