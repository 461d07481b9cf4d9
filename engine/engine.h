// Engine: a loaded model with its prompt cache and its scheduler thread. What the gateway talks to.
//
// Thread-safety: every method may be called from any thread.
// Ownership: owns model, backend, store and thread. Destruction ends what runs (OnFinished with kShutdown) and joins.
//
// Errors, Submit: refuses before any work: INVALID_ARGUMENT (empty prompt, id out of range, bad sampling or stop
// lists), OUT_OF_RANGE (the prompt does not fit the context), FAILED_PRECONDITION (needs more blocks than the pool
// has), UNAVAILABLE (queue full, or draining). Errors, Create: INVALID_ARGUMENT naming the option, its value and the
// limit; else what loading the model says.
//
//   auto source = OpenModel("/models/Qwen3-0.6B");
//   auto engine = Engine::Create(*std::move(source), {.kv_cache_bytes = 4LL << 30});
//   auto id = (*engine)->Submit({.prompt = ids, .max_tokens = 64}, sink);   // the sink hears of it from now on

#ifndef HEADSTART_ENGINE_ENGINE_H_
#define HEADSTART_ENGINE_ENGINE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/generation.h"
#include "engine/model/model_config.h"
#include "engine/model/model_source.h"
#include "engine/model/tensor.h"
#include "engine/scheduler/engine_stats.h"
#include "engine/text/template/chat_template.h"
#include "engine/text/tokenizer.h"
#include "engine/transformer/transformer.h"
#include "prefix_store/prefix_store.h"

namespace headstart {

struct EngineOptions {
  // --- behaviour
  std::string backend = "cpu";  // "cpu" or "reference"
  DType kv_dtype = DType::kBF16;
  int block_tokens = 16;
  int64_t kv_cache_bytes = 1LL << 30;  // device memory for KV pages
  int max_context_tokens = 0;          // 0: the model's own, or what kv_cache_bytes holds if that is less
  int max_queue = 1024;                // requests waiting to run
  int max_running = 64;                // sequences in one step
  EvictionPolicyKind eviction_policy = EvictionPolicyKind::kSegmentedLru;

  // --- performance
  int threads = 0;        // 0: one per core
  int step_tokens = 256;  // token budget of a step: larger prefills faster, smaller keeps decodes smoother
};

class Engine {
 public:
  static absl::StatusOr<std::unique_ptr<Engine>> Create(std::unique_ptr<ModelSource> source,
                                                        const EngineOptions& options,
                                                        const LoadProgress& progress = nullptr);
  virtual ~Engine() = default;

  // The sink is kept until its OnFinished returned.
  virtual absl::StatusOr<GenerationId> Submit(GenerationRequest request, std::shared_ptr<GenerationSink> sink) = 0;

  // Takes effect before the next step. No effect on what is finished.
  virtual void Cancel(GenerationId id) = 0;

  // What `tokens` would find in the cache now. Calls back on the scheduler thread.
  virtual void Predict(Scope scope, std::vector<TokenId> tokens, std::function<void(const Match&)> done) = 0;

  // Refuses new requests, and calls back when the last running one has finished.
  virtual void Drain(std::function<void()> drained) = 0;

  virtual EngineStats stats() const = 0;  // a snapshot from the end of the last step
  virtual const ModelConfig& config() const = 0;
  virtual const KvShape& kv_shape() const = 0;
  virtual Fingerprint fingerprint() const = 0;
  virtual int max_context_tokens() const = 0;
  virtual const Tokenizer& tokenizer() const = 0;
  virtual const ChatTemplate& chat_template() const = 0;
  virtual bool has_own_chat_template() const = 0;
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_ENGINE_H_
