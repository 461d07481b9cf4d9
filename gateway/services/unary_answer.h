// UnaryAnswer: the answer of a unary call that comes later, from another thread. A caller who goes away ends the call
// at once, so that neither a server that stops nor a client that gave up waits for the engine.
//
//   held ──(LetGo)──▶ let go ──(caller goes away)──▶ finished
//     └──────────────────┴──(Answer or Refuse)─────▶ finished
//
// Thread-safety: every method may be called from any thread. Ownership: held by itself until gRPC is done with it, and
// by whoever is to answer. Request and response are valid until it is finished: so, while it is held, whatever the
// caller does.
//
//   auto answer = UnaryAnswer<v1::GetPrefixResponse>::Create(*response);
//   answer->LetGo();                                   // the request is not read any more
//   engine.GetPrefix(scope, id, [answer](const auto& prefix) { answer->Answer([&](auto& response) { ... }); });
//   return answer.get();

#ifndef HEADSTART_GATEWAY_SERVICES_UNARY_ANSWER_H_
#define HEADSTART_GATEWAY_SERVICES_UNARY_ANSWER_H_

#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "engine/mutex.h"
#include "gateway/errors/grpc_status.h"
#include "grpcpp/support/server_callback.h"

namespace headstart {

template <typename Response>
class UnaryAnswer final : public grpc::ServerUnaryReactor {
 public:
  static std::shared_ptr<UnaryAnswer> Create(Response& response) {
    std::shared_ptr<UnaryAnswer> self(new UnaryAnswer(response));
    self->self_ = self;
    return self;
  }

  // From now on the call may end at any time.
  void LetGo() ABSL_LOCKS_EXCLUDED(mutex_) {
    {
      MutexLock lock(mutex_);
      held_ = false;
      if (!gone_ || finished_) return;
      finished_ = true;
    }
    FinishWith(absl::CancelledError("the caller went away"));
  }

  // Calls `fill` with the response and ends the call, unless it has ended.
  template <typename Fill>
  void Answer(const Fill& fill) {
    if (!Claim()) return;
    fill(response_);
    FinishWith(absl::OkStatus());
  }

  void Refuse(const absl::Status& status) {
    if (Claim()) FinishWith(status);
  }

  // --- gRPC
  void OnCancel() override ABSL_LOCKS_EXCLUDED(mutex_) {
    {
      MutexLock lock(mutex_);
      gone_ = true;
      if (held_ || finished_) return;
      finished_ = true;
    }
    FinishWith(absl::CancelledError("the caller went away"));
  }
  void OnDone() override { self_.reset(); }

 private:
  explicit UnaryAnswer(Response& response) : response_(response) {}

  // Whoever gets true ends the call, with mutex_ released: gRPC may call back.
  bool Claim() ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    if (finished_) return false;
    finished_ = true;
    return true;
  }
  void FinishWith(const absl::Status& status) { Finish(ToGrpcStatus(status)); }

  Response& response_;  // until finished
  std::shared_ptr<UnaryAnswer> self_;

  Mutex mutex_;
  bool held_ ABSL_GUARDED_BY(mutex_) = true;
  bool gone_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_UNARY_ANSWER_H_
