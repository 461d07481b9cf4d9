#include "tests/gateway/fake_engine.h"

#include "gateway/demo/embedded_model.h"

namespace headstart::testing {

FakeEngine::FakeEngine()
    : source_(*OpenModel(EmbeddedDemoModel(), "demo")),
      tokenizer_(*Tokenizer::Create(source_->tokenizer())),
      chat_template_(*ChatTemplate::Parse(source_->chat_template(), "", "<|end|>")) {}

FakeEngine::Submitted FakeEngine::WaitForRequest() {
  MutexLock lock(mutex_);
  while (submitted_.empty()) mutex_.Wait();
  Submitted first = std::move(submitted_.front());
  submitted_.pop_front();
  return first;
}

GenerationId FakeEngine::WaitForCancel() {
  MutexLock lock(mutex_);
  while (cancelled_.empty()) mutex_.Wait();
  const GenerationId id = cancelled_.front();
  cancelled_.pop_front();
  return id;
}

void FakeEngine::RefuseWith(absl::Status status) {
  MutexLock lock(mutex_);
  refusal_ = std::move(status);
}

void FakeEngine::SetMatch(Match match) {
  MutexLock lock(mutex_);
  match_ = match;
}

Scope FakeEngine::last_predicted_scope() const {
  MutexLock lock(mutex_);
  return predicted_scope_;
}

bool FakeEngine::draining() const {
  MutexLock lock(mutex_);
  return drained_ != nullptr;
}

void FakeEngine::FinishDraining() {
  std::function<void()> drained;
  {
    MutexLock lock(mutex_);
    drained = std::move(drained_);
  }
  drained();
}

absl::StatusOr<GenerationId> FakeEngine::Submit(GenerationRequest request, std::shared_ptr<GenerationSink> sink) {
  MutexLock lock(mutex_);
  if (!refusal_.ok()) return refusal_;
  const GenerationId id{next_id_++};
  submitted_.push_back({id, std::move(request), std::move(sink)});
  mutex_.NotifyAll();
  return id;
}

void FakeEngine::Cancel(GenerationId id) {
  MutexLock lock(mutex_);
  cancelled_.push_back(id);
  mutex_.NotifyAll();
}

void FakeEngine::Predict(Scope scope, std::vector<TokenId>, std::function<void(const Match&)> done) {
  Match match;
  {
    MutexLock lock(mutex_);
    predicted_scope_ = std::move(scope);
    match = match_;
  }
  done(match);
}

void FakeEngine::Drain(std::function<void()> drained) {
  MutexLock lock(mutex_);
  drained_ = std::move(drained);
}

}  // namespace headstart::testing
