// Scheduler: continuous batching over a ModelRunner and a PrefixStore, one step at a time. It decides who runs, shares
// each step's tokens among them, keeps them in memory or preempts them, publishes what was computed, and tells the
// sinks.
//
// Thread-safety: none, and no thread of its own: whoever calls RunStep drives it (SchedulerThread in the service, tests
// by hand). Sinks are called from within RunStep, Submit never calls them. Ownership: borrows runner, store and
// tokenizer, which outlive it. No other Scheduler uses the store. Errors: Submit refuses as CheckRequest does, and with
// UNAVAILABLE when the queue is full. A step cannot fail.
//
// One step: take back what the store's transfers have done · end what was cancelled or is past its deadline · make room
// for the tokens of those that run, preempting the youngest when there is none · start what waits · compute · publish ·
// sample · tell. A sequence whose cached tokens are still on their way up has its seat and its memory, and is left out
// of the computing; when they fail to come, it goes back to the queue and finds less.
//
// Tokens of a step: one for each sequence that only needs its last token computed, always; then prompts
// (prefill_share.h). Who starts: see admission.h; identical prompts are computed once: see prefix_wait.h. Preemption:
// what a sequence has is published and its memory let go; it resumes before anything new starts, once another sequence
// has ended (until then its memory cannot be there). The oldest is never preempted for a younger one, so there is
// always one that advances.
//
//   Scheduler scheduler(runner, store, tokenizer, options);
//   auto id = scheduler.Submit(request, sink);
//   while (scheduler.RunStep()) {}

#ifndef HEADSTART_ENGINE_SCHEDULER_SCHEDULER_H_
#define HEADSTART_ENGINE_SCHEDULER_SCHEDULER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/generation.h"
#include "engine/model_runner.h"
#include "engine/scheduler/admission.h"
#include "engine/scheduler/batch_builder.h"
#include "engine/scheduler/clock.h"
#include "engine/scheduler/engine_stats.h"
#include "engine/scheduler/request_check.h"
#include "engine/scheduler/sequence.h"
#include "engine/text/tokenizer.h"
#include "prefix_store/prefix_store.h"

namespace headstart {

struct SchedulerOptions {
  // --- behaviour
  int64_t max_context_tokens = 0;        // 0: the runner's
  int max_queue = 1024;                  // requests waiting to run
  int max_running = 64;                  // clamped to what the runner's limits and step_tokens allow
  std::vector<TokenId> end_tokens = {};  // the model's own

  // A request that waited so long goes before every younger one of its tenant: four times what a person takes for "at
  // once".
  absl::Duration age_cap = absl::Seconds(2);
  // How long a request waits for a shared prefix that does not grow: several steps of the slowest model worth serving.
  absl::Duration prefix_patience = absl::Seconds(10);

  // --- performance
  int step_tokens = 256;  // token budget of a step, clamped to the runner's limit
  // Prompts longer than a share of step_tokens that are computed at a time; shorter ones always join. More of them hold
  // memory without advancing.
  int max_long_prefills = 4;
};

class Scheduler {
 public:
  Scheduler(ModelRunner& runner, PrefixStore& store, const Tokenizer& tokenizer, SchedulerOptions options, Clock clock);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  ~Scheduler();  // as EndAll

  absl::StatusOr<GenerationId> Submit(GenerationRequest request, std::shared_ptr<GenerationSink> sink);

  // Takes what was checked elsewhere, under an id chosen elsewhere, and never refuses. Ids are unique.
  // REQUIRES: CheckRequest(request, limits()) passes.
  void Enqueue(GenerationId id, GenerationRequest request, std::shared_ptr<GenerationSink> sink, absl::Time submitted);

  // Takes effect before the next step. No effect on what has ended. May be called by a sink.
  void Cancel(GenerationId id);

  // Does the work of one step. False when there is none left.
  bool RunStep();

  // Ends everything with kShutdown.
  void EndAll();

  bool idle() const { return running_.empty() && queue_.size() == 0; }

  // Nothing can be done before the store's transfers have come further: another step would be in vain.
  bool waits_for_transfers() const { return plan_.empty() && !idle() && store_.stats().transfers_pending > 0; }
  int64_t waiting() const { return queue_.size(); }
  EngineStats stats() const;
  const RequestLimits& limits() const { return limits_; }
  const SchedulerOptions& options() const { return options_; }  // as clamped

 private:
  // Part of a step: `count` tokens of a sequence.
  struct Work {
    Sequence* sequence;
    int64_t count;
  };

  void EndCancelledAndLate(absl::Time now);
  void MakeRoom();
  void PreemptYoungest();
  void StartWaiting(absl::Time now);
  void AdvanceLoads(absl::Time now);
  LoadState Load(Sequence& sequence, absl::Time now);
  void StartPreempted(absl::Time now);
  void StartNew(absl::Time now);
  bool HasSeat(int64_t tokens_to_compute) const;
  bool IsLong(int64_t tokens_to_compute) const;
  int64_t ProbeCache(Sequence& sequence, absl::Time now) const;
  // Moves a waiting sequence among the running. False, with nothing changed, when there is no memory for it now. One
  // that not even an idle scheduler has memory for is ended: somebody else holds blocks of the store.
  bool Start(Sequence& sequence, absl::Time now);
  void PlanStep();
  void Compute(absl::Time now);
  void Measure(absl::Duration elapsed);
  void Harvest(absl::Time now);
  void EndSequence(Sequence& sequence, FinishReason reason, absl::Time now);
  void EndUnfit(Sequence& sequence, absl::Time now);
  TenantSeats RunningByTenant() const;

  ModelRunner& runner_;
  PrefixStore& store_;
  const Tokenizer& tokenizer_;
  const SchedulerOptions options_;
  const Clock clock_;
  const RequestLimits limits_;

  AdmissionQueue queue_;
  std::vector<std::unique_ptr<Sequence>> running_;  // oldest first
  absl::flat_hash_map<GenerationId, Sequence*> live_;
  uint64_t submissions_ = 0;
  bool memory_came_free_ = false;  // since the last preemption
  EngineStats counts_;

  std::vector<Work> plan_;
  BatchBuilder batch_;
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_SCHEDULER_SCHEDULER_H_
