// SchedulerThread: a Scheduler on a thread of its own, behind an inbox. It knows no model: the engine gives it a
// Transformer, tests give it a toy.
//
// Thread-safety: every method may be called from any thread; callbacks and sinks are called on the scheduler's thread,
// with no lock held. Ownership: owns the prefix store and the thread; borrows runner and tokenizer, which outlive it
// and which nobody else drives. Destruction ends what runs (OnFinished with kShutdown) and joins. Errors: as
// Engine::Submit.

#ifndef HEADSTART_ENGINE_SCHEDULER_SCHEDULER_THREAD_H_
#define HEADSTART_ENGINE_SCHEDULER_SCHEDULER_THREAD_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "engine/generation.h"
#include "engine/model_runner.h"
#include "engine/mutex.h"
#include "engine/scheduler/clock.h"
#include "engine/scheduler/engine_stats.h"
#include "engine/scheduler/scheduler.h"
#include "engine/text/tokenizer.h"
#include "prefix_store/prefix_store.h"
#include "prefix_store/registry/prefix_registry.h"

namespace headstart {

// Two clocks: `steady` runs the scheduler; `wall` is what the deadlines of requests refer to. A deadline is turned into
// time left when it arrives, so that setting the wall clock afterwards ends nothing early and keeps nothing alive.
struct SchedulerClocks {
  Clock steady = SteadyClock();
  Clock wall = [] { return absl::Now(); };
};

class SchedulerThread {
 public:
  // REQUIRES: PrefixStore::Validate(store_options).ok(), and its block_tokens are the runner's.
  // `tiers` outlive it; their on_transfer_done is its own. What a disk tier has from before is in the cache before the
  // first request runs, if the disk can be read; what is not on disk is written there when the thread ends, as far as a
  // bounded time allows. What was flushed or purged and could not be removed by then, the end removes by clearing the
  // disk whole.
  SchedulerThread(ModelRunner& runner, const Tokenizer& tokenizer, const PrefixStoreOptions& store_options,
                  SchedulerOptions options, SchedulerClocks clocks = {}, PrefixStoreTiers tiers = {},
                  const PrefixRegistryOptions& registry = {});
  ~SchedulerThread();
  SchedulerThread(const SchedulerThread&) = delete;
  SchedulerThread& operator=(const SchedulerThread&) = delete;

  absl::StatusOr<GenerationId> Submit(GenerationRequest request, std::shared_ptr<GenerationSink> sink);
  void Cancel(GenerationId id);
  void Predict(Scope scope, std::vector<TokenId> tokens, std::function<void(const Match&)> done);
  // Does `work` with the store and the registered prefixes on the scheduler's thread, between steps.
  using Work = absl::AnyInvocable<void(PrefixStore&, PrefixRegistry&)>;
  void Call(Work work);

  // The same, and calls `done` once all removals and registrations of until then are on disk; with the reason, when the
  // disk takes none: they are tried again.
  void CallDurably(Work work, std::function<void(const absl::Status&)> done);

  // Both as Engine has them.
  void Drain(std::function<void()> drained);
  void EndAll();
  EngineStats stats() const;

  const RequestLimits& limits() const { return limits_; }

 private:
  using Command = absl::AnyInvocable<void()>;  // runs on the scheduler's thread

  struct Inbox {
    std::vector<Command> commands;
    bool stop = false;
  };

  void Post(Command command);
  void Run();
  void LoadRegistry();
  void StoreAll();
  void ClearDisk();
  void PollUntil(absl::FunctionRef<bool()> done);
  void TellDurable();
  void GiveUpDurable();
  PrefixStoreTiers WithWake(PrefixStoreTiers tiers);
  Inbox AwaitWork();  // sleeps while there is nothing to do
  absl::Duration Patience(const EngineStats& stats) const;
  void ShareState();  // lets others see what the step left, and tells who waits for the drain
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // --- shared, also with I/O threads as long as the store has transfers
  mutable Mutex mutex_;
  std::vector<Command> inbox_ ABSL_GUARDED_BY(mutex_);
  uint64_t last_id_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t in_inbox_ ABSL_GUARDED_BY(mutex_) = 0;  // requests that the scheduler has not taken yet
  int64_t queued_ ABSL_GUARDED_BY(mutex_) = 0;    // those, and the scheduler's queue
  bool idle_ ABSL_GUARDED_BY(mutex_) = true;
  bool waits_ ABSL_GUARDED_BY(mutex_) = false;  // for transfers: a step would be in vain
  absl::Duration patience_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteDuration();  // how long to sleep at most
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::function<void()>> on_drained_ ABSL_GUARDED_BY(mutex_);
  EngineStats stats_ ABSL_GUARDED_BY(mutex_);

  // --- the scheduler thread's own
  const SchedulerClocks clocks_;
  PrefixStore store_;
  Scheduler scheduler_;
  PrefixRegistry registry_;
  bool registry_due_ = false;  // what was registered before is still to be read, once the disk works
  std::vector<std::function<void(const absl::Status&)>> when_durable_;
  const std::function<void(const std::string&)> on_event_;

  // --- read by all, written by none
  const RequestLimits limits_;
  const int max_queue_;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_SCHEDULER_SCHEDULER_THREAD_H_
