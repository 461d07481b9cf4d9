#include "gateway/services/generation_session.h"

#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "gateway/services/generation_request.h"
#include "gateway/services/request_digest.h"
#include "gateway/services/submit_errors.h"

namespace headstart {
namespace {

RequestRecord BeginRecord(const ServiceContext& context, const GenerationSession::Ask& ask) {
  const std::string& id = ask.request->request_id();
  RequestRecord record;
  record.request_id = id.empty() ? fmt::format("r-{:016x}", context.random()) : id;
  record.tenant = ask.caller.tenant;
  record.key_id = ask.caller.key_id;
  record.model = context.model_name;
  record.labels.insert(ask.request->labels().begin(), ask.request->labels().end());
  record.start = context.now();
  return record;
}

// The time of day may have been set back meanwhile.
absl::Duration SpanOf(absl::Time begin, absl::Time end) { return std::max(end - begin, absl::ZeroDuration()); }

}  // namespace

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

std::shared_ptr<GenerationSession> GenerationSession::Start(const ServiceContext& context, const InputEncoder& encoder,
                                                            Ask ask, std::shared_ptr<SessionEvents> events) {
  std::shared_ptr<GenerationSession> self(new GenerationSession(context, encoder, std::move(ask), std::move(events)));
  if (!context.workers.TryRun([self] { self->Prepare(); })) self->events_->OnRefused(TooBusy());
  return self;
}

GenerationSession::GenerationSession(const ServiceContext& context, const InputEncoder& encoder, Ask ask,
                                     std::shared_ptr<SessionEvents> events)
    : context_(context),
      encoder_(encoder),
      ask_(std::move(ask)),
      events_(std::move(events)),
      record_(BeginRecord(context, ask_)) {}

void GenerationSession::Prepare() {
  auto id = cancelled() ? absl::CancelledError("the caller went away") : Submit();
  if (!id.ok()) return events_->OnRefused(id.status());
  Submitted(*id);
}

bool GenerationSession::cancelled() const {
  MutexLock lock(mutex_);
  return cancelled_;
}

absl::StatusOr<GenerationId> GenerationSession::Submit() {
  const v1::GenerateRequest& request = *ask_.request;
  auto generation = ToGenerationRequest(request, context_.random());
  if (!generation.ok()) return generation.status();
  const absl::Time begin = context_.now();
  auto prompt = encoder_.Encode(request.input());
  record_.tokenize = SpanOf(begin, context_.now());
  if (!prompt.ok()) return prompt.status();
  record_.request_digest = DigestOf(request, *prompt);
  const absl::Status admitted = context_.accountant.Admit(
      {.tenant = record_.tenant, .request_id = request.request_id(), .request_digest = record_.request_digest});
  if (!admitted.ok()) return admitted;
  generation->scope = Scope::Tenant(record_.tenant);
  remembered_.tokens = context_.history.Beginning(*prompt);
  generation->prompt = *std::move(prompt);
  generation->deadline = ask_.deadline;
  seed_ = generation->sampling.seed;
  auto id = context_.engine.Submit(*std::move(generation), shared_from_this());
  if (!id.ok()) return SubmitError(id.status(), context_.stopping);
  return id;
}

// The engine may be done with it by now: then cancelling has no effect.
void GenerationSession::Submitted(GenerationId id) {
  bool cancel;
  {
    MutexLock lock(mutex_);
    id_ = id;
    cancel = cancelled_;
  }
  if (cancel) context_.engine.Cancel(id);
}

void GenerationSession::Cancel() {
  std::optional<GenerationId> id;
  {
    MutexLock lock(mutex_);
    cancelled_ = true;
    id = id_;
  }
  if (id) context_.engine.Cancel(*id);
}

void GenerationSession::OnStarted(const GenerationUsage& split) {
  Remember(split);
  events_->OnStarted({.request_id = record_.request_id, .model = record_.model, .seed = seed_, .split = split});
}

void GenerationSession::Remember(const GenerationUsage& split) {
  remembered_.time = record_.start;
  remembered_.prompt_tokens = split.prompt_tokens;
  remembered_.cached_tokens = split.cached_tokens();
  // A tenant may ask for what is remembered, and is told nothing of others.
  remembered_.miss_reason = split.miss_reason == MissReason::kOtherTenant ? MissReason::kNew : split.miss_reason;
  context_.history.Remember(record_.tenant, std::move(remembered_));
}

void GenerationSession::OnDelta(GenerationDelta delta) {
  if (!delta.tokens.empty()) MeasureGap(delta.tokens.size());
  events_->OnDelta(std::move(delta));
}

// The first token has none before it.
void GenerationSession::MeasureGap(size_t tokens) {
  const absl::Time now = context_.now();
  const absl::Time before = std::exchange(last_token_, now);
  if (before == absl::InfinitePast()) return;
  const double seconds = absl::ToDoubleSeconds(SpanOf(before, now)) / static_cast<double>(tokens);
  record_.token_gaps.Observe(seconds, static_cast<int64_t>(tokens));
}

void GenerationSession::OnFinished(FinishReason reason, const GenerationUsage& usage,
                                   const GenerationTimings& timings) {
  Settle(reason, usage, timings, [self = shared_from_this(), reason, usage, timings](const v1::Receipt& receipt) {
    self->events_->OnFinished({.reason = reason, .usage = usage, .timings = timings, .receipt = receipt});
  });
}

// One that had to make room while its prompt was computed has done work: that is in the account as any other.
void GenerationSession::OnRefused(const absl::Status& why, const GenerationUsage& usage,
                                  const GenerationTimings& timings) {
  const absl::Status refusal = SubmitError(why, context_.stopping);
  if (usage.prompt_tokens == 0) return events_->OnRefused(refusal);
  Settle(FinishReason::kShutdown, usage, timings,
         [self = shared_from_this(), refusal](const v1::Receipt&) { self->events_->OnRefused(refusal); });
}

void GenerationSession::Settle(FinishReason reason, const GenerationUsage& usage, const GenerationTimings& timings,
                               Accountant::Recorded recorded) {
  record_.end = context_.now();
  record_.reason = reason;
  record_.usage = usage;
  record_.timings = timings;
  context_.observer.OnRequestFinished(record_);
  context_.accountant.Record(std::move(record_), std::move(recorded));
}

}  // namespace headstart
