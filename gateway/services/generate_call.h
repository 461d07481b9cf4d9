// GenerateCall: one Generate stream: the protocol's side of a GenerationSession. The session's events go into a queue,
// and one write at a time takes them out, so that neither waits for the other.
//
//   streaming ──(the session has ended, or its client may have no more)──▶ closing ──(session ended, queue empty)──▶
//   finished
//
// Thread-safety: called from gRPC's threads (OnWriteDone, OnCancel, OnDone) and the session's. mutex_ guards what they
// share; gRPC and the session are called with it released.
// Ownership: held by itself until gRPC is done with it, and by the session until that has ended.
//
// Invariants: at most one write is under way. Finish is called once, when no write is under way and the session, which
// reads the request, has ended. After Finish nothing touches the request or the call's context.

#ifndef HEADSTART_GATEWAY_SERVICES_GENERATE_CALL_H_
#define HEADSTART_GATEWAY_SERVICES_GENERATE_CALL_H_

#include <deque>
#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "engine/mutex.h"
#include "gateway/services/generation_session.h"
#include "gateway/services/input_encoder.h"
#include "gateway/services/service_context.h"
#include "grpcpp/support/server_callback.h"
#include "headstart/v1/inference.pb.h"

namespace headstart {

class GenerateCall final : public grpc::ServerWriteReactor<v1::GenerateResponse>,
                           public SessionEvents,
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

  // --- the session
  void OnStarted(const Started& started) override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnDelta(GenerationDelta delta) override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnFinished(const Finished& finished) override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnRefused(const absl::Status& status) override ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  GenerateCall(const ServiceContext& context, bool logprobs) : context_(context), logprobs_(logprobs) {}

  void Attach(const std::shared_ptr<GenerationSession>& session) ABSL_LOCKS_EXCLUDED(mutex_);
  void Enqueue(v1::GenerateResponse event) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool MergeIntoLast(const v1::GenerateResponse& event) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void End(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void GiveUp(absl::Status status) ABSL_LOCKS_EXCLUDED(mutex_);
  bool ClientIsTooSlow() const ABSL_LOCKS_EXCLUDED(mutex_);
  void Pump() ABSL_LOCKS_EXCLUDED(mutex_);

  enum class Step { kNone, kWrite, kWriteLast, kFinish };
  Step NextStep() ABSL_LOCKS_EXCLUDED(mutex_);
  Step Close(Step how) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const ServiceContext& context_;
  const bool logprobs_;
  std::shared_ptr<GenerateCall> self_;

  mutable Mutex mutex_;
  std::shared_ptr<GenerationSession> session_ ABSL_GUARDED_BY(mutex_);
  bool session_ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool given_up_ ABSL_GUARDED_BY(mutex_) = false;       // the client no longer wants events, or may no longer have them
  bool finish_called_ ABSL_GUARDED_BY(mutex_) = false;  // or the last write, which is the same
  std::optional<absl::Status> final_status_ ABSL_GUARDED_BY(mutex_);
  std::deque<v1::GenerateResponse> queue_ ABSL_GUARDED_BY(mutex_);
  int64_t queued_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  v1::GenerateResponse on_the_wire_;  // belongs to whoever set writing_, until OnWriteDone
  absl::Status closing_status_;       // belongs to whoever set finish_called_
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_GENERATE_CALL_H_
