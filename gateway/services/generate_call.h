// GenerateCall: one Generate stream. It is the engine's sink and gRPC's reactor at once: the engine's events go into a
// queue, and one write at a time takes them out, so that neither waits for the other.
//
//   preparing ──(submitted)──▶ streaming ──(final status known, queue empty)──▶ finished
//       └──────(refused, or cancelled meanwhile)──────────────────────────────▶ finished
//
// Thread-safety: called from gRPC's threads (OnWriteDone, OnCancel, OnDone), a worker (Prepare) and the engine's thread
// (GenerationSink). mutex_ guards what they share; gRPC and the engine are called with it released.
// Ownership: held by itself until gRPC is done with it, and by the engine until OnFinished.
//
// Invariants: at most one write is under way. Finish is called once, when no write is under way and nobody reads the
// request any more. After Finish nothing touches the request or the call's context.

#ifndef HEADSTART_GATEWAY_SERVICES_GENERATE_CALL_H_
#define HEADSTART_GATEWAY_SERVICES_GENERATE_CALL_H_

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "engine/mutex.h"
#include "gateway/services/input_encoder.h"
#include "gateway/services/service_context.h"
#include "grpcpp/support/server_callback.h"
#include "headstart/v1/inference.pb.h"

namespace headstart {

class GenerateCall final : public grpc::ServerWriteReactor<v1::GenerateResponse>,
                           public GenerationSink,
                           public std::enable_shared_from_this<GenerateCall> {
 public:
  // REQUIRES: the request passed its checks. It and the gRPC context live until OnDone.
  static grpc::ServerWriteReactor<v1::GenerateResponse>* Start(const ServiceContext& context,
                                                               const InputEncoder& encoder, const Caller& caller,
                                                               const grpc::CallbackServerContext& call,
                                                               const v1::GenerateRequest& request);

  // --- gRPC
  void OnWriteDone(bool ok) override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnCancel() override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnDone() override;

  // --- the engine
  void OnStarted(const GenerationUsage& split) override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnDelta(GenerationDelta delta) override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnFinished(FinishReason reason, const GenerationUsage& usage, const GenerationTimings& timings) override
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  GenerateCall(const ServiceContext& context, const InputEncoder& encoder, const Caller& caller,
               const grpc::CallbackServerContext& call, const v1::GenerateRequest& request);

  void Prepare() ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<GenerationId> Submit();
  void EndPreparing(const absl::StatusOr<GenerationId>& id) ABSL_LOCKS_EXCLUDED(mutex_);

  void Enqueue(v1::GenerateResponse event) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool MergeIntoLast(const v1::GenerateResponse& event) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void GiveUp(absl::Status status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CancelInEngine() ABSL_LOCKS_EXCLUDED(mutex_);
  void Pump() ABSL_LOCKS_EXCLUDED(mutex_);

  enum class Step { kNone, kWrite, kFinish };
  Step NextStep() ABSL_LOCKS_EXCLUDED(mutex_);

  const ServiceContext& context_;
  const InputEncoder& encoder_;
  const v1::GenerateRequest& request_;  // until Finish
  const absl::Time deadline_;
  const bool logprobs_;
  RequestRecord record_;  // the engine's thread alone writes to it, in OnFinished
  uint64_t seed_ = 0;
  std::shared_ptr<GenerateCall> self_;

  Mutex mutex_;
  bool preparing_ ABSL_GUARDED_BY(mutex_) = true;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool given_up_ ABSL_GUARDED_BY(mutex_) = false;  // the client no longer wants events, or may no longer have them
  bool finish_called_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<GenerationId> id_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Status> final_status_ ABSL_GUARDED_BY(mutex_);
  std::deque<v1::GenerateResponse> queue_ ABSL_GUARDED_BY(mutex_);
  int64_t queued_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  v1::GenerateResponse on_the_wire_;  // belongs to whoever set writing_, until OnWriteDone
  absl::Status closing_status_;       // belongs to whoever set finish_called_
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_GENERATE_CALL_H_
