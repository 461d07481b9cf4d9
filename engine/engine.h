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
#include "engine/cached_prefix.h"
#include "engine/generation.h"
#include "engine/model/model_config.h"
#include "engine/model/model_source.h"
#include "engine/model/tensor.h"
#include "engine/scheduler/engine_stats.h"
#include "engine/text/template/chat_template.h"
#include "engine/text/tokenizer.h"
#include "engine/transformer/transformer.h"
#include "prefix_store/prefix_store.h"
#include "prefix_store/tier/disk_tier.h"

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
  EvictionPolicyKind eviction_policy = EvictionPolicyKind::kHitDensity;

  // Host memory for blocks that were evicted from the device; 0 is none. With a disk there is always a little, on the
  // way.
  int64_t host_cache_bytes = 0;
  // Where blocks go from there, and come back from after a restart; empty is nowhere. Created if need be.
  std::string disk_cache_directory = {};
  int64_t disk_cache_bytes = 0;  // of all files there; REQUIRED with a directory
  int pinned_percent = 50;       // of the device's blocks that registered prefixes may hold

  // Hears in one sentence of what an operator should know. From any thread.
  std::function<void(const std::string&)> on_event = nullptr;

  // --- performance
  int threads = 0;        // 0: one per core
  int io_threads = 2;     // that read blocks from host memory and disk
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

  // --- registered prefixes. Callbacks come on the scheduler thread, or at once when nothing had to be asked of it.

  // Computes what is not cached of the prefix, then pins it and registers it under its id. INVALID_ARGUMENT for no
  // tokens or an expiry in the past; OUT_OF_RANGE when it does not fit the context; ALREADY_EXISTS; RESOURCE_EXHAUSTED
  // when pins would take more than their share of the device; UNAVAILABLE as Submit. Counted as a request that
  // generates nothing.
  using PrefixDone = std::function<void(const absl::StatusOr<CachedPrefix>& prefix, const PrefixWork& work)>;
  virtual void CreatePrefix(PrefixSpec spec, PrefixDone done) = 0;

  // A prefix of exactly `scope`, by id. NOT_FOUND.
  using FoundPrefix = std::function<void(const absl::StatusOr<CachedPrefix>& prefix)>;
  virtual void GetPrefix(Scope scope, std::string id, FoundPrefix done) = 0;
  virtual void UpdatePrefix(Scope scope, std::string id, absl::Time expires, FoundPrefix done) = 0;

  // Ends the pin and forgets the name; its blocks stay until they are evicted. NOT_FOUND.
  virtual void DeletePrefix(Scope scope, std::string id, std::function<void(const absl::Status&)> done) = 0;

  // Those of `scope`, and the public ones, by scope and id.
  virtual void ListPrefixes(Scope scope, std::function<void(std::vector<CachedPrefix>)> done) = 0;

  // Those of every scope.
  virtual void ListAllPrefixes(std::function<void(std::vector<CachedPrefix>)> done) = 0;

  // --- administration

  // Forgets everything cached, in every tier, registered prefixes included. Running requests finish with what they
  // hold. The disk's error when it could not remove its records: they are no hits any more, and their removal is tried
  // again.
  virtual void Flush(std::function<void(const absl::StatusOr<FlushReport>&)> done) = 0;

  // The same for one tenant's scopes.
  virtual void PurgeTenant(std::string tenant, std::function<void(const absl::StatusOr<FlushReport>&)> done) = 0;

  // Reads every record on disk and reports the bad ones; changes nothing. On a thread of its own: requests go on.
  // FAILED_PRECONDITION without a disk tier.
  virtual void VerifyDisk(std::function<void(const absl::StatusOr<VerifyReport>&)> done) = 0;

  // Refuses new requests, and calls back when the last running one has finished.
  virtual void Drain(std::function<void()> drained) = 0;

  // Ends what runs and what waits, with kShutdown, before the next step. For a drain that took too long.
  virtual void EndAll() = 0;

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
