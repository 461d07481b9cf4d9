// GenerationSession: one request for an answer on its way through the gateway, whichever protocol it came by: encoded
// on a worker, let in by the accountant, run by the engine, written down.
//
//   preparing ──(submitted)──▶ running ──(the engine is done)──▶ recording ──(the record is on disk)──▶ ended:
//   OnFinished
//       └──────(refused, or cancelled meanwhile)───────────────────────────────────────────────────────▶ ended:
//       OnRefused
//
// Thread-safety: Cancel may be called from any thread, also from within events and after the end.
// Ownership: held by itself until it has ended, and by whoever wants to cancel it. It holds request and events until
// then. Context and encoder outlive the engine.
//
//   auto session = GenerationSession::Start(context, encoder, {caller, request, deadline}, events);
//   session->Cancel();   // the events still end with OnRefused or OnFinished

#ifndef HEADSTART_GATEWAY_SERVICES_GENERATION_SESSION_H_
#define HEADSTART_GATEWAY_SERVICES_GENERATION_SESSION_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "engine/engine.h"
#include "engine/mutex.h"
#include "gateway/accounting/request_record.h"
#include "gateway/services/input_encoder.h"
#include "gateway/services/service_context.h"
#include "headstart/v1/inference.pb.h"
#include "headstart/v1/usage.pb.h"

namespace headstart {

// What the protocol's side hears: OnStarted once, OnDelta any number of times, OnFinished once and last; or OnRefused
// in place of OnFinished, or OnFinished alone for a request that ended while it waited. Calls come one after the other,
// from a worker, the engine's thread or the account's, must return at once, and may come before Start has returned.
class SessionEvents {
 public:
  virtual ~SessionEvents() = default;

  struct Started {
    std::string request_id;
    std::string model;
    uint64_t seed = 0;
    GenerationUsage split;
  };
  virtual void OnStarted(const Started& started) = 0;

  virtual void OnDelta(GenerationDelta delta) = 0;

  struct Finished {
    FinishReason reason = FinishReason::kStop;
    GenerationUsage usage;
    GenerationTimings timings;
    v1::Receipt receipt;
  };
  virtual void OnFinished(const Finished& finished) = 0;

  // It was not let in; or, maybe after OnStarted, it turned out to need more memory than pinned prefixes leave. The
  // status carries google.rpc details.
  virtual void OnRefused(const absl::Status& status) = 0;
};

// OK, CANCELLED, DEADLINE_EXCEEDED or UNAVAILABLE: what a request that ended so is answered with.
absl::Status StatusOf(FinishReason reason);

class GenerationSession final : public GenerationSink, public std::enable_shared_from_this<GenerationSession> {
 public:
  struct Ask {
    Caller caller;
    std::shared_ptr<const v1::GenerateRequest> request;  // REQUIRES: passed CheckGenerate (inference_checks.h)
    absl::Time deadline = absl::InfiniteFuture();
  };
  static std::shared_ptr<GenerationSession> Start(const ServiceContext& context, const InputEncoder& encoder, Ask ask,
                                                  std::shared_ptr<SessionEvents> events);

  // Takes effect within a step of the engine.
  void Cancel() ABSL_LOCKS_EXCLUDED(mutex_);

  // --- the engine
  void OnStarted(const GenerationUsage& split) override;
  void OnDelta(GenerationDelta delta) override;
  void OnFinished(FinishReason reason, const GenerationUsage& usage, const GenerationTimings& timings) override;
  void OnRefused(const absl::Status& why, const GenerationUsage& usage, const GenerationTimings& timings) override;

 private:
  GenerationSession(const ServiceContext& context, const InputEncoder& encoder, Ask ask,
                    std::shared_ptr<SessionEvents> events);

  void Prepare() ABSL_LOCKS_EXCLUDED(mutex_);
  bool cancelled() const ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<GenerationId> Submit();
  void Submitted(GenerationId id) ABSL_LOCKS_EXCLUDED(mutex_);
  void Remember(const GenerationUsage& split);
  void MeasureGap(size_t tokens);
  // Observes and records what was done; `recorded` is called as by the accountant.
  void Settle(FinishReason reason, const GenerationUsage& usage, const GenerationTimings& timings,
              Accountant::Recorded recorded);

  const ServiceContext& context_;
  const InputEncoder& encoder_;
  const Ask ask_;
  const std::shared_ptr<SessionEvents> events_;
  RequestRecord record_;         // the worker's, then the engine's thread's alone
  RememberedPrompt remembered_;  // the same
  uint64_t seed_ = 0;
  absl::Time last_token_ = absl::InfinitePast();  // the engine's thread's

  mutable Mutex mutex_;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<GenerationId> id_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_GENERATION_SESSION_H_
