#include "gateway/cli/cache_client.h"

#include "grpcpp/client_context.h"

namespace headstart {

CacheClient::CacheClient(const ServerAccess& access)
    : connection_(access),
      prefixes_(v1::PrefixService::NewStub(connection_.channel())),
      admin_(v1::AdminService::NewStub(connection_.channel())) {}

template <typename Stub, typename Request, typename Response>
absl::StatusOr<Response> CacheClient::Call(Stub& stub,
                                           grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                                        Response*),
                                           const Request& request) const {
  grpc::ClientContext context;
  Response response;
  const grpc::Status status = (stub.*method)(&context, request, &response);
  if (!status.ok()) return connection_.Explain(status);
  return response;
}

absl::StatusOr<v1::CreatePrefixResponse> CacheClient::CreatePrefix(const v1::CreatePrefixRequest& request) {
  return Call(*prefixes_, &v1::PrefixService::Stub::CreatePrefix, request);
}

absl::StatusOr<v1::GetPrefixResponse> CacheClient::GetPrefix(const v1::GetPrefixRequest& request) {
  return Call(*prefixes_, &v1::PrefixService::Stub::GetPrefix, request);
}

absl::StatusOr<v1::ListPrefixesResponse> CacheClient::ListPrefixes() {
  v1::ListPrefixesRequest request;
  v1::ListPrefixesResponse all;
  do {
    auto page = Call(*prefixes_, &v1::PrefixService::Stub::ListPrefixes, request);
    if (!page.ok()) return page.status();
    all.mutable_prefixes()->MergeFrom(page->prefixes());
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());
  return all;
}

absl::StatusOr<v1::DeletePrefixResponse> CacheClient::DeletePrefix(const v1::DeletePrefixRequest& request) {
  return Call(*prefixes_, &v1::PrefixService::Stub::DeletePrefix, request);
}

absl::StatusOr<v1::GetStatusResponse> CacheClient::GetStatus() {
  return Call(*admin_, &v1::AdminService::Stub::GetStatus, v1::GetStatusRequest());
}

absl::StatusOr<v1::FlushCacheResponse> CacheClient::FlushCache() {
  return Call(*admin_, &v1::AdminService::Stub::FlushCache, v1::FlushCacheRequest());
}

absl::StatusOr<v1::PurgeTenantResponse> CacheClient::PurgeTenant(const std::string& tenant) {
  v1::PurgeTenantRequest request;
  request.set_tenant(tenant);
  return Call(*admin_, &v1::AdminService::Stub::PurgeTenant, request);
}

absl::StatusOr<v1::VerifyDiskResponse> CacheClient::VerifyDisk() {
  return Call(*admin_, &v1::AdminService::Stub::VerifyDisk, v1::VerifyDiskRequest());
}

}  // namespace headstart
