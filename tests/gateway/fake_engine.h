// FakeEngine: an Engine that computes nothing. Tests take the requests that reach it and play the scheduler's part
// themselves. Registered prefixes are kept in a list, and answered from it at once. Its tokenizer and chat template are
// the demo model's; the template takes tools besides.
//
// Thread-safety: every method may be called from any thread.

#ifndef HEADSTART_TESTS_GATEWAY_FAKE_ENGINE_H_
#define HEADSTART_TESTS_GATEWAY_FAKE_ENGINE_H_

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "engine/engine.h"
#include "engine/mutex.h"

namespace headstart::testing {

class FakeEngine final : public Engine {
 public:
  struct Submitted {
    GenerationId id;
    GenerationRequest request;
    std::shared_ptr<GenerationSink> sink;
  };

  FakeEngine();

  // --- for tests
  Submitted WaitForRequest() ABSL_LOCKS_EXCLUDED(mutex_);
  GenerationId WaitForCancel() ABSL_LOCKS_EXCLUDED(mutex_);
  // Submit and CreatePrefix answer this from now on.
  void RefuseWith(absl::Status status) ABSL_LOCKS_EXCLUDED(mutex_);
  // What CreatePrefix says it took, also when it refuses.
  void SetPrefixWork(const GenerationUsage& usage) ABSL_LOCKS_EXCLUDED(mutex_);
  void SetMatch(Match match) ABSL_LOCKS_EXCLUDED(mutex_);
  Scope last_predicted_scope() const ABSL_LOCKS_EXCLUDED(mutex_);
  // What CreatePrefix was called with, in order.
  std::vector<PrefixSpec> created() const ABSL_LOCKS_EXCLUDED(mutex_);
  std::vector<std::string> purged_tenants() const ABSL_LOCKS_EXCLUDED(mutex_);
  int flushes() const ABSL_LOCKS_EXCLUDED(mutex_);
  void SetStats(const EngineStats& stats) ABSL_LOCKS_EXCLUDED(mutex_);
  void SetFlushStatus(absl::Status status) ABSL_LOCKS_EXCLUDED(mutex_);
  void SetPurge(absl::StatusOr<FlushReport> report) ABSL_LOCKS_EXCLUDED(mutex_);
  void SetVerify(absl::StatusOr<VerifyReport> report) ABSL_LOCKS_EXCLUDED(mutex_);
  bool draining() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Calls back what Drain was given.
  void FinishDraining() ABSL_LOCKS_EXCLUDED(mutex_);

  // --- Engine
  absl::StatusOr<GenerationId> Submit(GenerationRequest request, std::shared_ptr<GenerationSink> sink) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  void Cancel(GenerationId id) override ABSL_LOCKS_EXCLUDED(mutex_);
  void Predict(Scope scope, std::vector<TokenId> tokens, std::function<void(const Match&)> done) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  void CreatePrefix(PrefixSpec spec, PrefixDone done) override ABSL_LOCKS_EXCLUDED(mutex_);
  void GetPrefix(Scope scope, std::string id, FoundPrefix done) override ABSL_LOCKS_EXCLUDED(mutex_);
  void UpdatePrefix(Scope scope, std::string id, absl::Time expires, FoundPrefix done) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  void DeletePrefix(Scope scope, std::string id, std::function<void(const absl::Status&)> done) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  void ListPrefixes(Scope scope, std::function<void(std::vector<CachedPrefix>)> done) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  void ListAllPrefixes(std::function<void(std::vector<CachedPrefix>)> done) override ABSL_LOCKS_EXCLUDED(mutex_);
  void Flush(std::function<void(const absl::StatusOr<FlushReport>&)> done) override ABSL_LOCKS_EXCLUDED(mutex_);
  void PurgeTenant(std::string tenant, std::function<void(const absl::StatusOr<FlushReport>&)> done) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  void VerifyDisk(std::function<void(const absl::StatusOr<VerifyReport>&)> done) override ABSL_LOCKS_EXCLUDED(mutex_);
  void Drain(std::function<void()> drained) override ABSL_LOCKS_EXCLUDED(mutex_);
  void EndAll() override ABSL_LOCKS_EXCLUDED(mutex_);
  EngineStats stats() const override ABSL_LOCKS_EXCLUDED(mutex_);
  const ModelConfig& config() const override { return source_->config(); }
  const KvShape& kv_shape() const override { return kv_shape_; }
  Fingerprint fingerprint() const override { return {.high = 1, .low = 2}; }
  int max_context_tokens() const override { return config().max_positions; }
  const Tokenizer& tokenizer() const override { return *tokenizer_; }
  const ChatTemplate& chat_template() const override { return *chat_template_; }
  bool has_own_chat_template() const override { return true; }

 private:
  absl::StatusOr<CachedPrefix> Register(const PrefixSpec& spec) ABSL_LOCKS_EXCLUDED(mutex_);
  std::vector<CachedPrefix>::iterator Find(const Scope& scope, const std::string& id)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::unique_ptr<ModelSource> source_;
  std::unique_ptr<const Tokenizer> tokenizer_;
  std::unique_ptr<const ChatTemplate> chat_template_;
  KvShape kv_shape_ = {.layers = 4, .kv_heads = 2, .head_dim = 64};

  mutable Mutex mutex_;
  std::deque<Submitted> submitted_ ABSL_GUARDED_BY(mutex_);
  std::deque<GenerationId> cancelled_ ABSL_GUARDED_BY(mutex_);
  absl::Status refusal_ ABSL_GUARDED_BY(mutex_);
  Match match_ ABSL_GUARDED_BY(mutex_);
  Scope predicted_scope_ ABSL_GUARDED_BY(mutex_) = Scope::Public();
  std::vector<CachedPrefix> prefixes_ ABSL_GUARDED_BY(mutex_);
  std::optional<GenerationUsage> prefix_work_ ABSL_GUARDED_BY(mutex_);
  std::vector<PrefixSpec> created_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> purged_tenants_ ABSL_GUARDED_BY(mutex_);
  int flushes_ ABSL_GUARDED_BY(mutex_) = 0;
  EngineStats stats_ ABSL_GUARDED_BY(mutex_);
  absl::Status flush_status_ ABSL_GUARDED_BY(mutex_);
  absl::StatusOr<FlushReport> purge_ ABSL_GUARDED_BY(mutex_) = FlushReport{};
  absl::StatusOr<VerifyReport> verify_ ABSL_GUARDED_BY(mutex_) = absl::FailedPreconditionError("there is no disk tier");
  std::function<void()> drained_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_id_ ABSL_GUARDED_BY(mutex_) = 1;
};

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_GATEWAY_FAKE_ENGINE_H_
