#include "gateway/services/count_tokens_call.h"

#include <utility>

#include "gateway/errors/grpc_status.h"
#include "gateway/services/convert.h"
#include "gateway/services/submit_errors.h"

namespace headstart {
namespace {

// What a request would report that only read its prompt.
GenerationUsage ToUsage(const Match& match, int64_t tokens) {
  GenerationUsage usage;
  usage.prompt_tokens = tokens;
  usage.cached_device_tokens = match.by_tier.device;
  usage.cached_host_tokens = match.by_tier.host;
  usage.cached_disk_tokens = match.by_tier.disk;
  usage.computed_prompt_tokens = tokens - usage.cached_tokens();
  return usage;
}

}  // namespace

grpc::ServerUnaryReactor* CountTokensCall::Start(const ServiceContext& context, const InputEncoder& encoder,
                                                 const Caller& caller, const v1::CountTokensRequest& request,
                                                 v1::CountTokensResponse& response) {
  auto* call = new CountTokensCall(context, encoder, caller, request, response);
  if (!context.workers.TryRun([call] { call->Count(); })) call->Finish(ToGrpcStatus(TooBusy()));
  return call;
}

CountTokensCall::CountTokensCall(const ServiceContext& context, const InputEncoder& encoder, const Caller& caller,
                                 const v1::CountTokensRequest& request, v1::CountTokensResponse& response)
    : context_(context), encoder_(encoder), caller_(caller), request_(request), response_(response) {}

void CountTokensCall::Count() {
  auto tokens = encoder_.Encode(request_.input());
  if (!tokens.ok()) return Finish(ToGrpcStatus(tokens.status()));
  if (request_.include_token_ids()) {
    for (const TokenId token : *tokens) response_.add_token_ids(ToIndex(token));
  }
  const auto count = static_cast<int64_t>(tokens->size());
  context_.engine.Predict(Scope::Tenant(caller_.tenant), *std::move(tokens),
                          [this, count](const Match& match) { Answer(match, count); });
}

void CountTokensCall::Answer(const Match& match, int64_t tokens) {
  response_.set_tokens(tokens);
  *response_.mutable_split() = ToCacheSplit(match, tokens);
  response_.set_pending_tokens(match.pending_tokens);
  *response_.mutable_predicted_charge() = context_.accountant.Predict(context_.model_name, ToUsage(match, tokens));
  Finish(grpc::Status::OK);
}

}  // namespace headstart
