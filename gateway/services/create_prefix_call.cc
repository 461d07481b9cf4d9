#include "gateway/services/create_prefix_call.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "fmt/format.h"
#include "gateway/services/convert.h"
#include "gateway/services/prefix_convert.h"
#include "gateway/services/request_digest.h"
#include "gateway/services/submit_errors.h"
#include "gateway/services/unary_answer.h"

namespace headstart {
namespace {

using Answer = UnaryAnswer<v1::CreatePrefixResponse>;

// A prefix ends where a further message begins, not where the model's answer does.
v1::Input WithoutGenerationPrompt(const v1::Input& input) {
  v1::Input result = input;
  if (!result.chat().has_add_generation_prompt()) result.mutable_chat()->set_add_generation_prompt(false);
  return result;
}

absl::StatusOr<std::vector<TokenId>> Encode(const InputEncoder& encoder, const v1::Input& input) {
  return encoder.Encode(input.has_chat() ? WithoutGenerationPrompt(input) : input);
}

absl::StatusOr<PrefixSpec> ToSpec(const ServiceContext& context, const InputEncoder& encoder, const Caller& caller,
                                  const v1::CreatePrefixRequest& request) {
  auto expires = ExpiryOf(request, context.now());
  if (!expires.ok()) return expires.status();
  auto tokens = Encode(encoder, request.input());
  if (!tokens.ok()) return tokens.status();
  return PrefixSpec{.id = request.id().empty() ? fmt::format("p-{:016x}", context.random()) : request.id(),
                    .scope = ToScope(request.scope(), caller),
                    .tokens = *std::move(tokens),
                    .display_name = request.display_name(),
                    .expires = *expires};
}

RequestRecord ToRecord(const ServiceContext& context, const Caller& caller, const v1::CreatePrefixRequest& request) {
  RequestRecord record;
  record.kind = RequestKind::kCreatePrefix;
  record.request_id = request.request_id().empty() ? fmt::format("r-{:016x}", context.random()) : request.request_id();
  record.tenant = caller.tenant;
  record.key_id = caller.key_id;
  record.model = context.model_name;
  record.start = context.now();
  return record;
}

void Finish(const CachedPrefix& prefix, const PrefixWork& work, const std::string& request_id,
            const v1::Receipt& receipt, Answer& answer) {
  answer.Answer([&](v1::CreatePrefixResponse& response) {
    *response.mutable_prefix() = ToPrefix(prefix);
    *response.mutable_usage() = ToUsage(work.usage);
    *response.mutable_timings() = ToTimings(work.timings);
    response.set_request_id(request_id);
    *response.mutable_receipt() = receipt;
  });
}

// A prefix that was computed in whole and then not registered ended as it should have.
FinishReason ReasonOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kCancelled:
      return FinishReason::kCancelled;
    case absl::StatusCode::kDeadlineExceeded:
      return FinishReason::kDeadline;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kFailedPrecondition:
      return FinishReason::kShutdown;
    default:
      return FinishReason::kLength;
  }
}

// Records what was computed, also when the prefix could not be kept, and answers. What was refused before any work
// leaves no record: it would be the first attempt of its id, and later ones would be billed as nothing.
void Settle(const ServiceContext& context, const absl::StatusOr<CachedPrefix>& prefix, RequestRecord record,
            std::shared_ptr<Answer> answer) {
  if (!prefix.ok()) answer->Refuse(PrefixError(prefix.status(), context.stopping));
  if (!prefix.ok() && record.usage.prompt_tokens == 0) return;
  record.reason = ReasonOf(prefix.status());
  record.end = context.now();
  context.observer.OnRequestFinished(record);
  auto finish = [prefix, work = PrefixWork{record.usage, record.timings}, id = record.request_id,
                 answer = std::move(answer)](const v1::Receipt& receipt) {
    if (prefix.ok()) Finish(*prefix, work, id, receipt, *answer);
  };
  context.accountant.Record(std::move(record), std::move(finish));
}

void Compute(const ServiceContext& context, PrefixSpec spec, RequestRecord record, std::shared_ptr<Answer> answer) {
  context.engine.CreatePrefix(std::move(spec),
                              [&context, record = std::move(record), answer = std::move(answer)](
                                  const absl::StatusOr<CachedPrefix>& prefix, const PrefixWork& work) mutable {
                                record.usage = work.usage;
                                record.timings = work.timings;
                                Settle(context, prefix, std::move(record), std::move(answer));
                              });
}

}  // namespace

grpc::ServerUnaryReactor* StartCreatePrefix(const ServiceContext& context, const InputEncoder& encoder,
                                            const Caller& caller, const v1::CreatePrefixRequest& request,
                                            v1::CreatePrefixResponse& response) {
  auto answer = Answer::Create(response);
  const bool queued = context.workers.TryRun([&context, &encoder, caller, &request, answer] {
    RequestRecord record = ToRecord(context, caller, request);
    auto spec = ToSpec(context, encoder, caller, request);
    if (!spec.ok()) return answer->Refuse(spec.status());
    record.tokenize = std::max(context.now() - record.start, absl::ZeroDuration());
    record.request_digest = DigestOf(request, spec->tokens);
    const absl::Status admitted = context.accountant.Admit(
        {.tenant = record.tenant, .request_id = request.request_id(), .request_digest = record.request_digest});
    if (!admitted.ok()) return answer->Refuse(admitted);
    answer->LetGo();
    Compute(context, *std::move(spec), std::move(record), answer);
  });
  if (!queued) answer->Refuse(TooBusy());
  return answer.get();
}

}  // namespace headstart
