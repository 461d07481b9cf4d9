// What a caller of the engine says and hears: a request for tokens, the events of its life, and its account.
//
// Thread-safety: plain values, and one interface whose calls all come from the scheduler thread.

#ifndef HEADSTART_ENGINE_GENERATION_H_
#define HEADSTART_ENGINE_GENERATION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "engine/sampling/sampler.h"
#include "prefix_store/prefix_store.h"
#include "prefix_store/types.h"

namespace headstart {

// One submitted request, for Cancel.
enum class GenerationId : uint64_t {};

struct GenerationRequest {
  Scope scope = Scope::Public();
  std::vector<TokenId> prompt;
  SamplingParams sampling;
  int64_t max_tokens = 0;            // 0: up to the end of the context
  std::vector<std::string> stop;     // strings that end the answer; they are not part of it
  std::vector<TokenId> stop_tokens;  // besides the model's own end tokens
  bool ignore_eos = false;
  bool read_cache = true;
  bool write_cache = true;
  bool prefill_only = false;  // computes the prompt's KV and ends there, with kLength and no tokens
  int8_t priority = 0;        // of what it leaves in the cache: −1, 0 or 1; a lower one is evicted first
  absl::Duration ttl = absl::InfiniteDuration();  // how long what it leaves in the cache may be found, from its end on
  absl::Time deadline = absl::InfiniteFuture();
};

// Where a prompt's tokens came from. prompt_tokens = cached_tokens() + computed_prompt_tokens, always; cached_tokens()
// is at most one less than the prompt. Of a request that ended before its prompt was done, prompt_tokens is what was
// done of it.
struct GenerationUsage {
  int64_t prompt_tokens = 0;
  int64_t cached_device_tokens = 0;
  int64_t cached_host_tokens = 0;
  int64_t cached_disk_tokens = 0;
  int64_t cached_remote_tokens = 0;
  int64_t computed_prompt_tokens = 0;
  int64_t cache_write_tokens = 0;  // tokens newly put into the cache, of prompt and answer
  int64_t completion_tokens = 0;
  int64_t recomputed_tokens = 0;  // computed again after preemption: shown, not billed, never counted as hits
  MissReason miss_reason = MissReason::kNone;

  int64_t cached_tokens() const {
    return cached_device_tokens + cached_host_tokens + cached_disk_tokens + cached_remote_tokens;
  }
};

struct GenerationTimings {
  absl::Duration queue;    // from submission to the first step that works on it, waiting for a shared prefix included
  absl::Duration load;     // of queue: bringing cached tokens up from host memory and disk
  absl::Duration prefill;  // from there to the first token; to the end, if there was none
  absl::Duration ttft;     // queue + prefill
  absl::Duration decode;   // from the first token to the last
  absl::Duration total;
};

enum class FinishReason {
  kStop,    // an end token, a stop token or a stop string
  kLength,  // max_tokens, or the end of the context, or of the memory that pinned prefixes leave
  kCancelled,
  kDeadline,
  kShutdown,  // the server stopped before it was done, or had no room for it: the same request may work elsewhere
};

struct GenerationDelta {
  std::string text;                  // whole code points; may be empty
  std::vector<SampledToken> tokens;  // what was sampled since the last delta
};

// Hears of one request, on the scheduler thread, in this order: OnStarted once, OnDelta any number of times, OnFinished
// once and last. A request that ends before it starts hears OnFinished alone. One that turns out not to fit hears
// OnRefused in place of OnFinished, and no delta. Calls must return at once and not call the engine back, except
// Cancel.
class GenerationSink {
 public:
  virtual ~GenerationSink() = default;
  virtual void OnStarted(
      const GenerationUsage& split) = 0;  // the cache split is known; counts of the answer are still 0
  virtual void OnDelta(GenerationDelta delta) = 0;
  virtual void OnFinished(FinishReason reason, const GenerationUsage& usage, const GenerationTimings& timings) = 0;
  // FAILED_PRECONDITION, with the numbers: pinned prefixes leave less memory than the prompt needs.
  virtual void OnRefused(const absl::Status& why, const GenerationUsage& usage, const GenerationTimings& timings) {
    (void)why;
    OnFinished(FinishReason::kShutdown, usage, timings);
  }
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_GENERATION_H_
