#include "gateway/services/prefix_service.h"

#include <memory>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "gateway/errors/error_details.h"
#include "gateway/services/call_guard.h"
#include "gateway/services/call_identity.h"
#include "gateway/services/create_prefix_call.h"
#include "gateway/services/limits.h"
#include "gateway/services/prefix_convert.h"
#include "gateway/services/submit_errors.h"
#include "gateway/services/unary_answer.h"

namespace headstart {
namespace {

absl::Status CheckChange(const Caller& caller, v1::PrefixScope scope) {
  if (auto status = CheckPrefixScope(scope); !status.ok()) return status;
  if (scope != v1::PREFIX_SCOPE_PUBLIC) return absl::OkStatus();
  return RequireOperator(caller, "changing public prefixes");
}

absl::Status CheckDisplayName(const std::string& name) {
  if (name.size() <= kMaxDisplayNameBytes) return absl::OkStatus();
  return OverLimit("display_name",
                   fmt::format("has {} bytes; at most {} are taken", name.size(), kMaxDisplayNameBytes));
}

// What the engine calls back with a prefix.
template <typename Response>
auto AnswerWithPrefix(std::shared_ptr<UnaryAnswer<Response>> answer) {
  return [answer = std::move(answer)](const absl::StatusOr<CachedPrefix>& prefix) {
    if (!prefix.ok()) return answer->Refuse(PrefixError(prefix.status(), /*stopping=*/false));
    answer->Answer([&prefix](Response& response) { *response.mutable_prefix() = ToPrefix(*prefix); });
  };
}

// An answer that needs nothing more of its request.
template <typename Response>
std::shared_ptr<UnaryAnswer<Response>> FreeAnswer(Response& response) {
  auto answer = UnaryAnswer<Response>::Create(response);
  answer->LetGo();
  return answer;
}

}  // namespace

PrefixService::PrefixService(const ServiceContext& context)
    : context_(context), encoder_(context.engine, context.now) {}

absl::Status PrefixService::CheckCreate(const Caller& caller, const v1::CreatePrefixRequest& request) const {
  if (context_.stopping) return ShuttingDown();
  absl::Status status = CheckModel(context_, request.model());
  if (!request.id().empty()) status.Update(CheckPrefixId(request.id()));
  status.Update(CheckChange(caller, request.scope()));
  status.Update(CheckInput(request.input(), context_.limits));
  status.Update(CheckDisplayName(request.display_name()));
  status.Update(ExpiryOf(request, context_.now()).status());
  status.Update(CheckRequestId(request.request_id()));
  return status;
}

grpc::ServerUnaryReactor* PrefixService::CreatePrefix(grpc::CallbackServerContext* call,
                                                      const v1::CreatePrefixRequest* request,
                                                      v1::CreatePrefixResponse* response) {
  auto caller = context_.authenticator.Authenticate(IdentityOf(*call));
  if (!caller.ok()) return Finished(*call, caller.status());
  if (auto status = CheckCreate(*caller, *request); !status.ok()) return Finished(*call, status);
  return StartCreatePrefix(context_, encoder_, *caller, *request, *response);
}

grpc::ServerUnaryReactor* PrefixService::GetPrefix(grpc::CallbackServerContext* call,
                                                   const v1::GetPrefixRequest* request,
                                                   v1::GetPrefixResponse* response) {
  auto caller = context_.authenticator.Authenticate(IdentityOf(*call));
  absl::Status status = caller.status();
  status.Update(CheckPrefixId(request->id()));
  status.Update(CheckPrefixScope(request->scope()));
  if (!status.ok()) return Finished(*call, status);
  const Scope scope = ToScope(request->scope(), *caller);
  auto answer = FreeAnswer(*response);
  context_.engine.GetPrefix(scope, request->id(), AnswerWithPrefix(answer));
  return answer.get();
}

grpc::ServerUnaryReactor* PrefixService::ListPrefixes(grpc::CallbackServerContext* call,
                                                      const v1::ListPrefixesRequest* request,
                                                      v1::ListPrefixesResponse* response) {
  auto caller = context_.authenticator.Authenticate(IdentityOf(*call));
  absl::Status status = caller.status();
  status.Update(CheckPage(*request));
  if (!status.ok()) return Finished(*call, status);
  const v1::ListPrefixesRequest wanted = *request;
  auto answer = FreeAnswer(*response);
  context_.engine.ListPrefixes(Scope::Tenant(caller->tenant), [answer, wanted](std::vector<CachedPrefix> prefixes) {
    auto page = ToPage(wanted, std::move(prefixes));
    if (!page.ok()) return answer->Refuse(page.status());
    answer->Answer([&page](v1::ListPrefixesResponse& filled) { filled = *std::move(page); });
  });
  return answer.get();
}

grpc::ServerUnaryReactor* PrefixService::UpdatePrefix(grpc::CallbackServerContext* call,
                                                      const v1::UpdatePrefixRequest* request,
                                                      v1::UpdatePrefixResponse* response) {
  auto caller = context_.authenticator.Authenticate(IdentityOf(*call));
  if (!caller.ok()) return Finished(*call, caller.status());
  const auto expires = ExpiryOf(*request, context_.now());
  absl::Status status = CheckPrefixId(request->id());
  status.Update(CheckChange(*caller, request->scope()));
  status.Update(expires.status());
  if (!status.ok()) return Finished(*call, status);
  const Scope scope = ToScope(request->scope(), *caller);
  auto answer = FreeAnswer(*response);
  context_.engine.UpdatePrefix(scope, request->id(), *expires, AnswerWithPrefix(answer));
  return answer.get();
}

grpc::ServerUnaryReactor* PrefixService::DeletePrefix(grpc::CallbackServerContext* call,
                                                      const v1::DeletePrefixRequest* request,
                                                      v1::DeletePrefixResponse* response) {
  auto caller = context_.authenticator.Authenticate(IdentityOf(*call));
  if (!caller.ok()) return Finished(*call, caller.status());
  absl::Status status = CheckPrefixId(request->id());
  status.Update(CheckChange(*caller, request->scope()));
  if (!status.ok()) return Finished(*call, status);
  const Scope scope = ToScope(request->scope(), *caller);
  auto answer = FreeAnswer(*response);
  context_.engine.DeletePrefix(scope, request->id(), [answer](const absl::Status& deleted) {
    if (!deleted.ok()) return answer->Refuse(PrefixError(deleted, /*stopping=*/false));
    answer->Answer([](v1::DeletePrefixResponse&) {});
  });
  return answer.get();
}

}  // namespace headstart
