#include "tests/gateway/fake_engine.h"

#include <algorithm>

#include "gateway/demo/embedded_model.h"

namespace headstart::testing {
namespace {

// Before the demo model's template, which knows none.
constexpr char kTools[] = "{% if tools %}{{ tools | tojson }}{% endif %}";

absl::Status NoPrefix(const std::string& id) { return absl::NotFoundError("there is no prefix " + id); }

CachedPrefix Cached(const PrefixSpec& spec) {
  const auto tokens = static_cast<int64_t>(spec.tokens.size());
  return {.id = spec.id,
          .scope = spec.scope,
          .display_name = spec.display_name,
          .tokens = tokens,
          .created = absl::FromUnixSeconds(1'700'000'000),
          .expires = spec.expires,
          .by_tier = {.device = tokens},
          .pinned_tokens = tokens};
}

}  // namespace

FakeEngine::FakeEngine()
    : source_(*OpenModel(EmbeddedDemoModel(), "demo")),
      tokenizer_(*Tokenizer::Create(source_->tokenizer())),
      chat_template_(*ChatTemplate::Parse(kTools + source_->chat_template(), "", "<|end|>")) {}

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

std::vector<PrefixSpec> FakeEngine::created() const {
  MutexLock lock(mutex_);
  return created_;
}

std::vector<std::string> FakeEngine::purged_tenants() const {
  MutexLock lock(mutex_);
  return purged_tenants_;
}

int FakeEngine::flushes() const {
  MutexLock lock(mutex_);
  return flushes_;
}

void FakeEngine::SetStats(const EngineStats& stats) {
  MutexLock lock(mutex_);
  stats_ = stats;
}

void FakeEngine::SetFlushStatus(absl::Status status) {
  MutexLock lock(mutex_);
  flush_status_ = std::move(status);
}

void FakeEngine::SetPurge(absl::StatusOr<FlushReport> report) {
  MutexLock lock(mutex_);
  purge_ = std::move(report);
}

void FakeEngine::SetVerify(absl::StatusOr<VerifyReport> report) {
  MutexLock lock(mutex_);
  verify_ = std::move(report);
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

std::vector<CachedPrefix>::iterator FakeEngine::Find(const Scope& scope, const std::string& id) {
  return std::ranges::find_if(prefixes_,
                              [&](const CachedPrefix& prefix) { return prefix.id == id && prefix.scope == scope; });
}

absl::StatusOr<CachedPrefix> FakeEngine::Register(const PrefixSpec& spec) {
  MutexLock lock(mutex_);
  created_.push_back(spec);
  if (!refusal_.ok()) return refusal_;
  if (Find(spec.scope, spec.id) != prefixes_.end()) return absl::AlreadyExistsError("there is a prefix " + spec.id);
  prefixes_.push_back(Cached(spec));
  return prefixes_.back();
}

void FakeEngine::SetPrefixWork(const GenerationUsage& usage) {
  MutexLock lock(mutex_);
  prefix_work_ = usage;
}

void FakeEngine::CreatePrefix(PrefixSpec spec, PrefixDone done) {
  const auto prefix = Register(spec);
  PrefixWork work;
  {
    MutexLock lock(mutex_);
    if (prefix_work_) work.usage = *prefix_work_;
  }
  if (prefix.ok()) {
    work.usage.prompt_tokens = work.usage.computed_prompt_tokens = static_cast<int64_t>(spec.tokens.size());
    work.timings.queue = absl::Milliseconds(3);
    work.timings.prefill = absl::Milliseconds(4);
    work.timings.ttft = absl::Milliseconds(7);
  }
  done(prefix, work);
}

void FakeEngine::GetPrefix(Scope scope, std::string id, FoundPrefix done) {
  absl::StatusOr<CachedPrefix> result = NoPrefix(id);
  {
    MutexLock lock(mutex_);
    if (const auto found = Find(scope, id); found != prefixes_.end()) result = *found;
  }
  done(result);
}

void FakeEngine::UpdatePrefix(Scope scope, std::string id, absl::Time expires, FoundPrefix done) {
  absl::StatusOr<CachedPrefix> result = NoPrefix(id);
  {
    MutexLock lock(mutex_);
    if (const auto found = Find(scope, id); found != prefixes_.end()) {
      found->expires = expires;
      result = *found;
    }
  }
  done(result);
}

void FakeEngine::DeletePrefix(Scope scope, std::string id, std::function<void(const absl::Status&)> done) {
  absl::Status result = NoPrefix(id);
  {
    MutexLock lock(mutex_);
    if (const auto found = Find(scope, id); found != prefixes_.end()) {
      prefixes_.erase(found);
      result = absl::OkStatus();
    }
  }
  done(result);
}

void FakeEngine::ListPrefixes(Scope scope, std::function<void(std::vector<CachedPrefix>)> done) {
  std::vector<CachedPrefix> result;
  {
    MutexLock lock(mutex_);
    std::ranges::copy_if(prefixes_, std::back_inserter(result),
                         [&](const CachedPrefix& prefix) { return prefix.scope == scope || prefix.scope.is_public(); });
  }
  done(std::move(result));
}

void FakeEngine::ListAllPrefixes(std::function<void(std::vector<CachedPrefix>)> done) {
  std::vector<CachedPrefix> result;
  {
    MutexLock lock(mutex_);
    result = prefixes_;
  }
  done(std::move(result));
}

void FakeEngine::Flush(std::function<void(const absl::StatusOr<FlushReport>&)> done) {
  FlushReport report;
  absl::Status status;
  {
    MutexLock lock(mutex_);
    ++flushes_;
    report = {.blocks = 3, .prefixes = static_cast<int64_t>(prefixes_.size())};
    status = flush_status_;
    prefixes_.clear();
  }
  if (!status.ok()) return done(status);
  done(report);
}

void FakeEngine::PurgeTenant(std::string tenant, std::function<void(const absl::StatusOr<FlushReport>&)> done) {
  absl::StatusOr<FlushReport> report;
  {
    MutexLock lock(mutex_);
    purged_tenants_.push_back(std::move(tenant));
    report = purge_;
  }
  done(report);
}

void FakeEngine::VerifyDisk(std::function<void(const absl::StatusOr<VerifyReport>&)> done) {
  absl::StatusOr<VerifyReport> report;
  {
    MutexLock lock(mutex_);
    report = verify_;
  }
  done(report);
}

EngineStats FakeEngine::stats() const {
  MutexLock lock(mutex_);
  return stats_;
}

void FakeEngine::Drain(std::function<void()> drained) {
  MutexLock lock(mutex_);
  drained_ = std::move(drained);
}

void FakeEngine::EndAll() {
  std::deque<Submitted> ended;
  {
    MutexLock lock(mutex_);
    ended = std::exchange(submitted_, {});
  }
  for (const Submitted& request : ended) request.sink->OnFinished(FinishReason::kShutdown, {}, {});
}

}  // namespace headstart::testing
