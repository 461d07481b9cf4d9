#include "gateway/services/admin_service.h"

#include "gateway/errors/error_details.h"
#include "gateway/services/call_guard.h"
#include "gateway/services/call_identity.h"
#include "gateway/services/explain_misses.h"
#include "gateway/services/status_report.h"
#include "gateway/services/submit_errors.h"
#include "gateway/services/unary_answer.h"

namespace headstart {
namespace {

template <typename Response>
void Fill(const FlushReport& report, Response& response) {
  response.set_removed_blocks(report.blocks);
  response.set_removed_prefixes(report.prefixes);
}

absl::Status DiskError(const absl::Status& status) {
  if (absl::IsUnimplemented(status)) return status;
  return WithReason(status, absl::IsFailedPrecondition(status) ? "NO_DISK_TIER" : "DISK_FAILED");
}

// What the engine calls back with a report or the disk's error.
template <typename Report, typename Response>
auto AnswerWithReport(std::shared_ptr<UnaryAnswer<Response>> answer) {
  return [answer = std::move(answer)](const absl::StatusOr<Report>& report) {
    if (!report.ok()) return answer->Refuse(DiskError(report.status()));
    answer->Answer([&report](Response& response) { Fill(*report, response); });
  };
}

}  // namespace

AdminService::AdminService(const ServiceContext& context) : context_(context), start_(context.now()) {}

absl::Status AdminService::Admit(const grpc::CallbackServerContext& call, std::string_view what) const {
  auto caller = context_.authenticator.Authenticate(IdentityOf(call));
  return caller.ok() ? RequireOperator(*caller, what) : caller.status();
}

grpc::ServerUnaryReactor* AdminService::GetStatus(grpc::CallbackServerContext* call, const v1::GetStatusRequest*,
                                                  v1::GetStatusResponse* response) {
  const absl::Status status = Admit(*call, "the server's status");
  if (status.ok()) *response = ToStatus(context_, start_, context_.now());
  return Finished(*call, status);
}

grpc::ServerUnaryReactor* AdminService::FlushCache(grpc::CallbackServerContext* call, const v1::FlushCacheRequest*,
                                                   v1::FlushCacheResponse* response) {
  if (auto status = Admit(*call, "flushing the cache"); !status.ok()) return Finished(*call, status);
  auto answer = UnaryAnswer<v1::FlushCacheResponse>::Create(*response);
  answer->LetGo();
  context_.history.ForgetAll();
  context_.engine.Flush(AnswerWithReport<FlushReport>(answer));
  return answer.get();
}

grpc::ServerUnaryReactor* AdminService::PurgeTenant(grpc::CallbackServerContext* call,
                                                    const v1::PurgeTenantRequest* request,
                                                    v1::PurgeTenantResponse* response) {
  absl::Status status = Admit(*call, "purging a tenant");
  if (request->tenant().empty()) status.Update(InvalidField("tenant", "is empty; name whose cache to forget"));
  if (!status.ok()) return Finished(*call, status);
  const std::string& tenant = request->tenant();
  auto answer = UnaryAnswer<v1::PurgeTenantResponse>::Create(*response);
  answer->LetGo();
  context_.history.Forget(tenant);
  context_.engine.PurgeTenant(tenant, AnswerWithReport<FlushReport>(answer));
  return answer.get();
}

grpc::ServerUnaryReactor* AdminService::VerifyDisk(grpc::CallbackServerContext* call, const v1::VerifyDiskRequest*,
                                                   v1::VerifyDiskResponse* response) {
  if (auto status = Admit(*call, "verifying the disk"); !status.ok()) return Finished(*call, status);
  auto answer = UnaryAnswer<v1::VerifyDiskResponse>::Create(*response);
  answer->LetGo();
  context_.engine.VerifyDisk(AnswerWithReport<VerifyReport>(answer));
  return answer.get();
}

grpc::ServerUnaryReactor* AdminService::ExplainMisses(grpc::CallbackServerContext* call,
                                                      const v1::ExplainMissesRequest* request,
                                                      v1::ExplainMissesResponse* response) {
  auto caller = context_.authenticator.Authenticate(IdentityOf(*call));
  if (!caller.ok()) return Finished(*call, caller.status());
  if (auto status = CheckExplainMisses(*caller, *request); !status.ok()) return Finished(*call, status);
  auto answer = UnaryAnswer<v1::ExplainMissesResponse>::Create(*response);
  const std::string tenant = request->tenant().empty() ? caller->tenant : request->tenant();
  const int count = request->max_explanations() == 0 ? kDefaultExplanations : request->max_explanations();
  answer->LetGo();
  const bool queued = context_.workers.TryRun([this, answer, tenant, count] {
    answer->Answer(
        [&](v1::ExplainMissesResponse& filled) { filled = headstart::ExplainMisses(context_, tenant, count); });
  });
  if (!queued) answer->Refuse(TooBusy());
  return answer.get();
}

}  // namespace headstart
