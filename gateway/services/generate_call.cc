#include "gateway/services/generate_call.h"

#include <utility>

#include "fmt/format.h"
#include "gateway/errors/error_details.h"
#include "gateway/errors/grpc_status.h"
#include "gateway/services/convert.h"
#include "grpcpp/server_context.h"

namespace headstart {
namespace {

// A merged delta stays far below the 4 MiB that clients take by default.
constexpr size_t kMaxMergedBytes = 64 << 10;

// gRPC says "no deadline" with the end of its clock.
absl::Time DeadlineOf(const grpc::CallbackServerContext& call) {
  const auto deadline = call.deadline();
  return deadline == std::chrono::system_clock::time_point::max() ? absl::InfiniteFuture() : absl::FromChrono(deadline);
}

absl::Status CallerWentAway() { return absl::CancelledError("the caller went away"); }

}  // namespace

grpc::ServerWriteReactor<v1::GenerateResponse>* GenerateCall::Start(const ServiceContext& context,
                                                                    const InputEncoder& encoder, const Caller& caller,
                                                                    const grpc::CallbackServerContext& call,
                                                                    const v1::GenerateRequest& request) {
  std::shared_ptr<GenerateCall> self(new GenerateCall(context, request.logprobs()));
  self->self_ = self;
  GenerateCall* const reactor = self.get();
  // gRPC owns the request, and keeps it until Finish.
  const std::shared_ptr<const v1::GenerateRequest> borrowed(std::shared_ptr<void>(), &request);
  const auto session = GenerationSession::Start(
      context, encoder, {.caller = caller, .request = borrowed, .deadline = DeadlineOf(call)}, self);
  self->Attach(session);
  return reactor;
}

// The caller may have gone away meanwhile.
void GenerateCall::Attach(const std::shared_ptr<GenerationSession>& session) {
  bool cancel;
  {
    MutexLock lock(mutex_);
    cancel = given_up_;
    session_ = session;
  }
  if (cancel) session->Cancel();
}

void GenerateCall::OnStarted(const Started& started) {
  v1::GenerateResponse event;
  event.mutable_started()->set_request_id(started.request_id);
  event.mutable_started()->set_model(started.model);
  event.mutable_started()->set_seed(started.seed);
  *event.mutable_started()->mutable_split() = ToCacheSplit(started.split);
  {
    MutexLock lock(mutex_);
    Enqueue(std::move(event));
  }
  Pump();
}

void GenerateCall::OnDelta(GenerationDelta delta) {
  v1::GenerateResponse event;
  *event.mutable_delta() = ToDelta(std::move(delta), logprobs_, context_.engine.tokenizer());
  {
    MutexLock lock(mutex_);
    Enqueue(std::move(event));
  }
  if (ClientIsTooSlow()) {
    GiveUp(WithReason(absl::ResourceExhaustedError(fmt::format(
                          "the client left more than {} bytes of the answer unread", context_.max_unread_bytes)),
                      "CLIENT_TOO_SLOW"));
  }
  Pump();
}

void GenerateCall::OnFinished(const Finished& finished) {
  v1::GenerateResponse event;
  event.mutable_finished()->set_reason(ToFinishReason(finished.reason));
  *event.mutable_finished()->mutable_usage() = ToUsage(finished.usage);
  *event.mutable_finished()->mutable_timings() = ToTimings(finished.timings);
  *event.mutable_finished()->mutable_receipt() = finished.receipt;
  {
    MutexLock lock(mutex_);
    Enqueue(std::move(event));
    End(StatusOf(finished.reason));
  }
  Pump();
}

void GenerateCall::OnRefused(const absl::Status& status) {
  {
    MutexLock lock(mutex_);
    End(status);
  }
  Pump();
}

void GenerateCall::End(const absl::Status& status) {
  session_ended_ = true;
  if (!final_status_) final_status_ = status;
}

void GenerateCall::OnCancel() {
  GiveUp(CallerWentAway());
  Pump();
}

void GenerateCall::OnWriteDone(bool ok) {
  {
    MutexLock lock(mutex_);
    writing_ = false;
  }
  if (!ok) GiveUp(CallerWentAway());
  Pump();
}

// Call and session hold each other until here.
void GenerateCall::OnDone() {
  std::shared_ptr<GenerationSession> session;
  {
    MutexLock lock(mutex_);
    session = std::move(session_);
  }
  self_.reset();
}

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

bool GenerateCall::ClientIsTooSlow() const {
  MutexLock lock(mutex_);
  return queued_bytes_ > context_.max_unread_bytes;
}

// What is queued is dropped, and the session ends within a step.
void GenerateCall::GiveUp(absl::Status status) {
  std::shared_ptr<GenerationSession> session;
  {
    MutexLock lock(mutex_);
    given_up_ = true;
    queue_.clear();
    queued_bytes_ = 0;
    if (!final_status_ || final_status_->ok()) final_status_ = std::move(status);
    session = session_;
  }
  if (session) session->Cancel();
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
    case Step::kWriteLast:  // with the status in the same packet
      StartWriteAndFinish(&on_the_wire_, grpc::WriteOptions(), ToGrpcStatus(closing_status_));
      return;
    case Step::kFinish:
      Finish(ToGrpcStatus(closing_status_));
      return;
  }
}

GenerateCall::Step GenerateCall::Close(Step how) {
  closing_status_ = *final_status_;
  finish_called_ = true;
  return how;
}

GenerateCall::Step GenerateCall::NextStep() {
  MutexLock lock(mutex_);
  if (writing_ || finish_called_) return Step::kNone;
  if (!queue_.empty()) {
    on_the_wire_ = std::move(queue_.front());
    queue_.pop_front();
    // Merging saves a few bytes of framing, so the sum is put right whenever nothing is left.
    queued_bytes_ = queue_.empty() ? 0 : queued_bytes_ - static_cast<int64_t>(on_the_wire_.ByteSizeLong());
    const bool is_last = session_ended_ && queue_.empty();
    writing_ = true;
    return is_last ? Close(Step::kWriteLast) : Step::kWrite;
  }
  return session_ended_ ? Close(Step::kFinish) : Step::kNone;
}

}  // namespace headstart
