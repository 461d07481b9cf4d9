#include "gateway/services/usage_service.h"

#include <memory>
#include <utility>

#include "gateway/services/call_guard.h"
#include "gateway/services/call_identity.h"
#include "gateway/services/submit_errors.h"
#include "gateway/services/unary_answer.h"
#include "gateway/services/usage_export_call.h"
#include "gateway/services/usage_query.h"

namespace headstart {

absl::StatusOr<std::string> UsageService::Visible(const grpc::CallbackServerContext& call,
                                                  const std::string& wanted) const {
  auto caller = context_.authenticator.Authenticate(IdentityOf(call));
  if (!caller.ok()) return caller.status();
  if (caller->role == Role::kOperator || wanted == caller->tenant) return wanted;
  if (wanted.empty()) return caller->tenant;
  return RequireOperator(*caller, "another tenant's usage");
}

grpc::ServerUnaryReactor* UsageService::ListUsage(grpc::CallbackServerContext* call,
                                                  const v1::ListUsageRequest* request,
                                                  v1::ListUsageResponse* response) {
  auto tenant = Visible(*call, request->tenant());
  absl::Status status = tenant.status();
  status.Update(CheckUsageRequest(*request));
  if (!status.ok()) return Finished(*call, status);
  v1::ListUsageRequest question = *request;
  question.set_tenant(*std::move(tenant));
  auto answer = UnaryAnswer<v1::ListUsageResponse>::Create(*response);
  answer->LetGo();
  const bool runs = context_.workers.TryRun([this, answer, question = std::move(question)] {
    auto page = headstart::ListUsage(ledger_, question);
    if (!page.ok()) return answer->Refuse(page.status());
    answer->Answer([&page](v1::ListUsageResponse& filled) { filled = *std::move(page); });
  });
  if (!runs) answer->Refuse(TooBusy());
  return answer.get();
}

grpc::ServerWriteReactor<v1::ExportUsageResponse>* UsageService::ExportUsage(grpc::CallbackServerContext* call,
                                                                             const v1::ExportUsageRequest* request) {
  auto tenant = Visible(*call, request->tenant());
  if (!tenant.ok()) return UsageExportCall::Refuse(tenant.status());
  const auto range = ParseRange(request->has_start_time() ? &request->start_time() : nullptr,
                                request->has_end_time() ? &request->end_time() : nullptr);
  if (!range.ok()) return UsageExportCall::Refuse(range.status());
  auto cursor = ledger_.ReadRecords(range->start, range->end);
  if (!cursor.ok()) return UsageExportCall::Refuse(cursor.status());
  return UsageExportCall::Start(context_.workers, *std::move(cursor), *std::move(tenant));
}

}  // namespace headstart
