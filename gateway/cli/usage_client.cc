#include "gateway/cli/usage_client.h"

#include <algorithm>
#include <utility>

#include "grpcpp/client_context.h"

namespace headstart {

UsageClient::UsageClient(const ServerAccess& access)
    : connection_(access), stub_(v1::UsageService::NewStub(connection_.channel())) {}

absl::StatusOr<v1::ListUsageResponse> UsageClient::ListUsage(v1::ListUsageRequest request) {
  v1::ListUsageResponse all;
  do {
    grpc::ClientContext context;
    v1::ListUsageResponse page;
    const grpc::Status status = stub_->ListUsage(&context, request, &page);
    if (!status.ok()) return connection_.Explain(status);
    request.set_page_token(page.next_page_token());
    for (auto& group : *page.mutable_groups()) *all.add_groups() = std::move(group);
    *all.mutable_totals() = std::move(*page.mutable_totals());
  } while (!request.page_token().empty());
  return all;
}

absl::Status UsageClient::ExportUsage(const v1::ExportUsageRequest& request,
                                      const std::function<bool(const v1::UsageEntry&)>& on_entry) {
  grpc::ClientContext context;
  auto stream = stub_->ExportUsage(&context, request);
  v1::ExportUsageResponse page;
  while (stream->Read(&page)) {
    if (std::ranges::all_of(page.entries(), on_entry)) continue;
    context.TryCancel();
    stream->Finish();
    return absl::OkStatus();
  }
  return connection_.Explain(stream->Finish());
}

}  // namespace headstart
