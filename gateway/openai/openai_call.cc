#include "gateway/openai/openai_call.h"

#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "gateway/openai/openai_errors.h"

namespace headstart {
namespace {

constexpr std::string_view kDone = "data: [DONE]\n\n";

// Far from each other, so that the choices of two requests with seeds next to each other are not the same ones.
constexpr uint64_t kSeedStep = 0x9e3779b97f4a7c15;  // 2^64 divided by the golden ratio

void Append(ChoiceAnswer::Added added, ChoiceAnswer::Added& whole) {
  whole.text += added.text;
  std::ranges::move(added.calls, std::back_inserter(whole.calls));
  std::ranges::move(added.tokens, std::back_inserter(whole.tokens));
}

}  // namespace

// Tells the call which choice an event is of.
class OpenAiCall::Events final : public SessionEvents {
 public:
  Events(std::shared_ptr<OpenAiCall> call, int choice) : call_(std::move(call)), choice_(choice) {}

  void OnStarted(const Started& started) override { call_->OnStarted(choice_, started); }
  void OnDelta(GenerationDelta delta) override { call_->OnDelta(choice_, std::move(delta)); }
  void OnFinished(const Finished& finished) override { call_->OnFinished(choice_, finished); }
  void OnRefused(const absl::Status& status) override { call_->OnFailed(status); }

 private:
  const std::shared_ptr<OpenAiCall> call_;
  const int choice_;
};

void OpenAiCall::Start(const Parts& parts, std::shared_ptr<HttpExchange> exchange, const Caller& caller,
                       OpenAiRequest request) {
  std::shared_ptr<OpenAiCall> call(new OpenAiCall(parts, std::move(exchange), std::move(request)));
  call->exchange_->OnGone([weak = std::weak_ptr(call)] {
    if (const auto gone = weak.lock()) gone->CancelAll();
  });
  call->StartSessions(caller);
}

OpenAiCall::OpenAiCall(const Parts& parts, std::shared_ptr<HttpExchange> exchange, OpenAiRequest request)
    : parts_(parts), exchange_(std::move(exchange)), request_(std::move(request)) {
  for (int i = 0; i < request_.choices; ++i) {
    choices_.push_back({.answer = ChoiceAnswer(request_, parts.tool_call_format, parts.context.engine.tokenizer(),
                                               parts.context.random),
                        .whole = {}});
  }
}

// The request as it came for the first choice; for others a copy, with a seed and a name in the account of its own.
// Without a seed every choice draws its own: one set here would make the same request, tried again, another one.
std::shared_ptr<const v1::GenerateRequest> OpenAiCall::RequestOf(int choice) const {
  if (choice == 0) return {shared_from_this(), &request_.generate};
  auto request = std::make_shared<v1::GenerateRequest>(request_.generate);
  if (v1::Sampling& sampling = *request->mutable_sampling(); sampling.has_seed()) {
    sampling.set_seed(sampling.seed() + kSeedStep * static_cast<uint64_t>(choice));
  }
  if (!request->request_id().empty()) {
    // No hyphen: callers number their own requests with those.
    const std::string suffix = fmt::format("#{}", choice);
    const std::string& id = request->request_id();
    request->set_request_id(id.substr(0, kMaxRequestIdBytes - suffix.size()) + suffix);
  }
  return request;
}

void OpenAiCall::StartSessions(const Caller& caller) {
  for (int i = 0; i < request_.choices; ++i) {
    auto session = GenerationSession::Start(parts_.context, parts_.encoder, {.caller = caller, .request = RequestOf(i)},
                                            std::make_shared<Events>(shared_from_this(), i));
    bool cancel;
    {
      MutexLock lock(mutex_);
      sessions_.push_back(session);
      cancel = cancelled_;
    }
    if (cancel) return session->Cancel();
  }
}

void OpenAiCall::CancelAll() {
  std::vector<std::weak_ptr<GenerationSession>> sessions;
  {
    MutexLock lock(mutex_);
    if (std::exchange(cancelled_, true)) return;
    sessions = sessions_;
  }
  for (const auto& weak : sessions) {
    if (const auto session = weak.lock()) session->Cancel();
  }
}

// Names the answer and, of a stream, sends its head.
void OpenAiCall::Begin(const SessionEvents::Started& started) {
  const ServiceContext& context = parts_.context;
  const Fingerprint fingerprint = context.engine.fingerprint();
  const bool is_chat = request_.api == OpenAiApi::kChatCompletions;
  const std::string& given = request_.generate.request_id();  // always there with several choices
  const std::string& id = given.empty() ? started.request_id : given;
  json_.emplace(CompletionJson::Head{.id = fmt::format("{}-{}", is_chat ? "chatcmpl" : "cmpl", id),
                                     .created = absl::ToUnixSeconds(context.now()),
                                     .model = started.model,
                                     .fingerprint = fmt::format("fp_{:016x}", fingerprint.high)},
                request_.api, request_.include_usage, request_.generate.logprobs(), context.engine.tokenizer());
  headers_ = {{"x-request-id", id}, {"x-headstart-cached-tokens", std::to_string(started.split.cached_tokens())}};
  if (!request_.stream) return;
  HttpResponse head = {.content_type = "text/event-stream; charset=utf-8", .headers = headers_};
  head.headers.emplace_back("Cache-Control", "no-cache");
  head.headers.emplace_back("X-Accel-Buffering", "no");  // nginx would collect events otherwise
  exchange_->StartStream(head);
}

void OpenAiCall::OnStarted(int choice, const SessionEvents::Started& started) {
  MutexLock lock(mutex_);
  choices_[choice].request_id = started.request_id;
  if (done_) return;
  if (!json_) Begin(started);
  if (request_.stream && request_.api == OpenAiApi::kChatCompletions) Write(json_->RoleEvent(choice));
}

// That a client is gone, OnGone tells the sessions; what still comes of them need not be put into words.
void OpenAiCall::Write(const std::string& events) {
  if (!events.empty()) gone_ = gone_ || !exchange_->Write(events);
}

void OpenAiCall::Add(int choice, ChoiceAnswer::Added added) {
  Choice& target = choices_[choice];
  if (!request_.stream) return Append(std::move(added), target.whole);
  Write(json_->DeltaEvents(choice, added, target.offset));
  target.offset += json_->TokensLength(added.tokens);
}

void OpenAiCall::OnDelta(int choice, GenerationDelta delta) {
  MutexLock lock(mutex_);
  if (done_ || gone_ || !json_) return;
  Add(choice, choices_[choice].answer.Add(std::move(delta)));
}

void OpenAiCall::OnFinished(int choice, const SessionEvents::Finished& finished) {
  if (const absl::Status status = StatusOf(finished.reason); !status.ok()) return OnFailed(status);
  MutexLock lock(mutex_);
  if (done_ || !json_) return;
  Choice& target = choices_[choice];
  Add(choice, target.answer.Finish());
  target.finished = finished;
  if (request_.stream) Write(json_->FinishEvent(choice, FinishReasonName(finished.reason, target.answer.has_calls())));
  const bool all = std::ranges::all_of(choices_, [](const Choice& other) { return other.finished.has_value(); });
  if (all) Complete();
}

std::vector<ChoiceUsage> OpenAiCall::Usage() const {
  std::vector<ChoiceUsage> usage;
  usage.reserve(choices_.size());
  for (const Choice& choice : choices_) usage.push_back({choice.request_id, *choice.finished});
  return usage;
}

void OpenAiCall::Complete() {
  done_ = true;
  if (request_.stream) {
    if (request_.include_usage) Write(json_->UsageEvent(Usage()));
    exchange_->Write(kDone);
    return exchange_->Finish();
  }
  std::vector<CompletionJson::Choice> choices;
  for (Choice& choice : choices_) {
    const auto reason = FinishReasonName(choice.finished->reason, choice.answer.has_calls());
    choices.push_back({std::move(choice.whole), reason});
  }
  exchange_->Send({.body = json_->Whole(choices, Usage()), .headers = headers_});
}

void OpenAiCall::OnFailed(const absl::Status& status) {
  {
    MutexLock lock(mutex_);
    if (std::exchange(done_, true)) return;
    if (request_.stream && json_) {
      exchange_->Write(fmt::format("event: error\ndata: {}\n\n", OpenAiErrorJson(status, request_.names)));
      exchange_->Finish();
    } else {
      exchange_->Send(OpenAiErrorResponse(status, request_.names));
    }
  }
  CancelAll();
}

}  // namespace headstart
