// FakeEngine: an Engine that computes nothing. Tests take the requests that reach it and play the scheduler's part
// themselves. Its tokenizer and chat template are the demo model's.
//
// Thread-safety: every method may be called from any thread.

#ifndef HEADSTART_TESTS_GATEWAY_FAKE_ENGINE_H_
#define HEADSTART_TESTS_GATEWAY_FAKE_ENGINE_H_

#include <deque>
#include <functional>
#include <memory>
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
  // Submit answers this from now on.
  void RefuseWith(absl::Status status) ABSL_LOCKS_EXCLUDED(mutex_);
  void SetMatch(Match match) ABSL_LOCKS_EXCLUDED(mutex_);
  Scope last_predicted_scope() const ABSL_LOCKS_EXCLUDED(mutex_);
  bool draining() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Calls back what Drain was given.
  void FinishDraining() ABSL_LOCKS_EXCLUDED(mutex_);

  // --- Engine
  absl::StatusOr<GenerationId> Submit(GenerationRequest request, std::shared_ptr<GenerationSink> sink) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  void Cancel(GenerationId id) override ABSL_LOCKS_EXCLUDED(mutex_);
  void Predict(Scope scope, std::vector<TokenId> tokens, std::function<void(const Match&)> done) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  void Drain(std::function<void()> drained) override ABSL_LOCKS_EXCLUDED(mutex_);
  EngineStats stats() const override { return {}; }
  const ModelConfig& config() const override { return source_->config(); }
  const KvShape& kv_shape() const override { return kv_shape_; }
  Fingerprint fingerprint() const override { return {.high = 1, .low = 2}; }
  int max_context_tokens() const override { return config().max_positions; }
  const Tokenizer& tokenizer() const override { return *tokenizer_; }
  const ChatTemplate& chat_template() const override { return *chat_template_; }
  bool has_own_chat_template() const override { return true; }

 private:
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
  std::function<void()> drained_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_id_ ABSL_GUARDED_BY(mutex_) = 1;
};

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_GATEWAY_FAKE_ENGINE_H_
