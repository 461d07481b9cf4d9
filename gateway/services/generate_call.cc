#include "gateway/services/generate_call.h"

#include <utility>

#include "fmt/format.h"
#include "gateway/errors/error_details.h"
#include "gateway/errors/grpc_status.h"
#include "gateway/services/convert.h"
#include "gateway/services/generation_request.h"
#include "gateway/services/submit_errors.h"
#include "grpcpp/server_context.h"

namespace headstart {
namespace {

// A merged delta stays far below the 4 MiB that clients take by default.
constexpr size_t kMaxMergedBytes = 64 << 10;

absl::Status StatusOf(FinishReason reason) {
  switch (reason) {
    case FinishReason::kStop:
    case FinishReason::kLength:
      return absl::OkStatus();
    case FinishReason::kCancelled:
      return absl::CancelledError("the generation was cancelled");
    case FinishReason::kDeadline:
      return absl::DeadlineExceededError("the deadline passed before the answer was complete");
    case FinishReason::kShutdown:
      return ShuttingDown();
  }
  return absl::InternalError("the generation ended for an unknown reason");
}

// gRPC says "no deadline" with the end of its clock.
absl::Time DeadlineOf(const grpc::CallbackServerContext& call) {
  const auto deadline = call.deadline();
  return deadline == std::chrono::system_clock::time_point::max() ? absl::InfiniteFuture() : absl::FromChrono(deadline);
}

std::string RequestIdOf(const v1::GenerateRequest& request, const ServiceContext& context) {
  return request.request_id().empty() ? fmt::format("r-{:016x}", context.random()) : request.request_id();
}

}  // namespace

grpc::ServerWriteReactor<v1::GenerateResponse>* GenerateCall::Start(const ServiceContext& context,
                                                                    const InputEncoder& encoder, const Caller& caller,
                                                                    const grpc::CallbackServerContext& call,
                                                                    const v1::GenerateRequest& request) {
  std::shared_ptr<GenerateCall> self(new GenerateCall(context, encoder, caller, call, request));
  self->self_ = self;
  if (!context.workers.TryRun([self] { self->Prepare(); })) self->EndPreparing(TooBusy());
  return self.get();
}

GenerateCall::GenerateCall(const ServiceContext& context, const InputEncoder& encoder, const Caller& caller,
                           const grpc::CallbackServerContext& call, const v1::GenerateRequest& request)
    : context_(context),
      encoder_(encoder),
      request_(request),
      deadline_(DeadlineOf(call)),
      logprobs_(request.logprobs()) {
  record_.request_id = RequestIdOf(request, context);
  record_.tenant = caller.tenant;
  record_.model = context.model_name;
  record_.labels.insert(request.labels().begin(), request.labels().end());
}

void GenerateCall::Prepare() {
  bool wanted;
  {
    MutexLock lock(mutex_);
    wanted = !given_up_;
  }
  EndPreparing(wanted ? Submit() : absl::CancelledError("the caller went away"));
}

absl::StatusOr<GenerationId> GenerateCall::Submit() {
  auto generation = ToGenerationRequest(request_, context_.random());
  if (!generation.ok()) return generation.status();
  auto prompt = encoder_.Encode(request_.input());
  if (!prompt.ok()) return prompt.status();
  generation->scope = Scope::Tenant(record_.tenant);
  generation->prompt = *std::move(prompt);
  generation->deadline = deadline_;
  seed_ = generation->sampling.seed;
  auto id = context_.engine.Submit(*std::move(generation), shared_from_this());
  if (!id.ok()) return SubmitError(id.status());
  return id;
}

void GenerateCall::EndPreparing(const absl::StatusOr<GenerationId>& id) {
  bool cancel = false;
  {
    MutexLock lock(mutex_);
    preparing_ = false;
    if (id.ok()) {
      id_ = *id;
      cancel = given_up_;
    } else if (!final_status_) {
      final_status_ = id.status();
    }
  }
  if (cancel) context_.engine.Cancel(*id);
  Pump();
}

void GenerateCall::OnStarted(const GenerationUsage& split) {
  v1::GenerateResponse event;
  event.mutable_started()->set_request_id(record_.request_id);
  event.mutable_started()->set_model(record_.model);
  event.mutable_started()->set_seed(seed_);
  *event.mutable_started()->mutable_split() = ToCacheSplit(split);
  {
    MutexLock lock(mutex_);
    Enqueue(std::move(event));
  }
  Pump();
}

void GenerateCall::OnDelta(GenerationDelta delta) {
  v1::GenerateResponse event;
  *event.mutable_delta() = ToDelta(std::move(delta), logprobs_, context_.engine.tokenizer());
  bool too_slow;
  {
    MutexLock lock(mutex_);
    Enqueue(std::move(event));
    too_slow = queued_bytes_ > context_.max_unread_bytes && !given_up_;
    if (too_slow) {
      GiveUp(WithReason(absl::ResourceExhaustedError(fmt::format(
                            "the client left more than {} bytes of the answer unread", context_.max_unread_bytes)),
                        "CLIENT_TOO_SLOW"));
    }
  }
  if (too_slow) CancelInEngine();
  Pump();
}

void GenerateCall::OnFinished(FinishReason reason, const GenerationUsage& usage, const GenerationTimings& timings) {
  record_.reason = reason;
  record_.usage = usage;
  record_.timings = timings;
  context_.observer.OnRequestFinished(record_);
  v1::GenerateResponse event;
  event.mutable_finished()->set_reason(ToFinishReason(reason));
  *event.mutable_finished()->mutable_usage() = ToUsage(usage);
  *event.mutable_finished()->mutable_timings() = ToTimings(timings);
  {
    MutexLock lock(mutex_);
    Enqueue(std::move(event));
    if (!final_status_) final_status_ = StatusOf(reason);
  }
  Pump();
}

void GenerateCall::OnCancel() {
  {
    MutexLock lock(mutex_);
    GiveUp(absl::CancelledError("the caller went away"));
  }
  CancelInEngine();
  Pump();
}

void GenerateCall::OnWriteDone(bool ok) {
  {
    MutexLock lock(mutex_);
    writing_ = false;
    if (!ok) GiveUp(absl::CancelledError("the caller went away"));
  }
  if (!ok) CancelInEngine();
  Pump();
}

void GenerateCall::OnDone() { self_.reset(); }

// A client that reads slowly gets fewer and larger pieces.
bool GenerateCall::MergeIntoLast(const v1::GenerateResponse& event) {
  if (!event.has_delta() || queue_.empty() || !queue_.back().has_delta()) return false;
  v1::GenerateDelta& last = *queue_.back().mutable_delta();
  if (last.ByteSizeLong() + event.delta().ByteSizeLong() > kMaxMergedBytes) return false;
  last.mutable_text()->append(event.delta().text());
  last.mutable_token_ids()->MergeFrom(event.delta().token_ids());
  last.mutable_logprobs()->MergeFrom(event.delta().logprobs());
  return true;
}

void GenerateCall::Enqueue(v1::GenerateResponse event) {
  if (given_up_) return;
  queued_bytes_ += static_cast<int64_t>(event.ByteSizeLong());
  if (!MergeIntoLast(event)) queue_.push_back(std::move(event));
}

void GenerateCall::GiveUp(absl::Status status) {
  given_up_ = true;
  queue_.clear();
  queued_bytes_ = 0;
  if (!final_status_ || final_status_->ok()) final_status_ = std::move(status);
}

void GenerateCall::CancelInEngine() {
  std::optional<GenerationId> id;
  {
    MutexLock lock(mutex_);
    id = id_;
  }
  if (id) context_.engine.Cancel(*id);
}

// Decides under the lock, so that one caller alone acts on each change; acts without it. Whoever changed the state
// calls it.
void GenerateCall::Pump() {
  switch (NextStep()) {
    case Step::kNone:
      return;
    case Step::kWrite:
      StartWrite(&on_the_wire_);
      return;
    case Step::kFinish:
      Finish(ToGrpcStatus(closing_status_));
      return;
  }
}

GenerateCall::Step GenerateCall::NextStep() {
  MutexLock lock(mutex_);
  if (preparing_ || writing_ || finish_called_) return Step::kNone;
  if (!queue_.empty()) {
    on_the_wire_ = std::move(queue_.front());
    queue_.pop_front();
    // Merging saves a few bytes of framing, so the sum is put right whenever nothing is left.
    queued_bytes_ = queue_.empty() ? 0 : queued_bytes_ - static_cast<int64_t>(on_the_wire_.ByteSizeLong());
    writing_ = true;
    return Step::kWrite;
  }
  if (!final_status_) return Step::kNone;
  closing_status_ = *final_status_;
  finish_called_ = true;
  return Step::kFinish;
}

}  // namespace headstart
