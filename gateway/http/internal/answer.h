// Answer: what a handler writes, framed and waiting to go out, between the threads of handlers and the connection's.
//
// Thread-safety: every method may be called from any thread. mutex_ guards all; callbacks are called with it released.
// Ownership: held by the connection until all is out, and by the handler's handle.
//
// Invariants: `wake` is called once after something came to a queue that was empty. Nothing is queued once it is gone.

#ifndef HEADSTART_GATEWAY_HTTP_INTERNAL_ANSWER_H_
#define HEADSTART_GATEWAY_HTTP_INTERNAL_ANSWER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "engine/mutex.h"
#include "gateway/http/http_exchange.h"
#include "gateway/http/http_message.h"

namespace headstart {

class Answer final {
 public:
  struct Policy {
    bool is_http_1_0 = false;
    bool keep_alive = true;
    int64_t max_unread_bytes = 0;
    std::string cors_origin = {};
    std::function<absl::Time()> now = nullptr;
  };
  // `wake` has the connection come and take what is queued; `cut` has it close. Both may be called from any thread.
  Answer(HttpRequest request, Policy policy, std::function<void()> wake, std::function<void()> cut);

  // --- the handler's side
  const HttpRequest& request() const { return request_; }
  std::string TakeBody() { return std::exchange(request_.body, {}); }
  void Send(const HttpResponse& response) ABSL_LOCKS_EXCLUDED(mutex_);
  void StartStream(const HttpResponse& head) ABSL_LOCKS_EXCLUDED(mutex_);
  bool Write(std::string_view bytes) ABSL_LOCKS_EXCLUDED(mutex_);
  void Finish() ABSL_LOCKS_EXCLUDED(mutex_);
  void OnGone(std::function<void()> gone) ABSL_LOCKS_EXCLUDED(mutex_);
  // Nobody will write any more: completes what was not.
  void Abandon() ABSL_LOCKS_EXCLUDED(mutex_);

  // --- the connection's side
  struct Output {
    std::string bytes;
    bool complete = false;  // nothing follows
  };
  // `taken` bytes of the last output are out.
  Output Take() ABSL_LOCKS_EXCLUDED(mutex_);
  void Taken(size_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);
  // The client is gone.
  void Gone() ABSL_LOCKS_EXCLUDED(mutex_);
  // Whether the handler has said all.
  bool complete() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Whether the connection may carry another request after this answer.
  bool keep_alive() const ABSL_LOCKS_EXCLUDED(mutex_);
  void CloseAfterwards() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  enum class State { kNothingSent, kStreaming, kComplete };

  bool Queue(std::string bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool has_body() const { return request_.method != "HEAD"; }

  HttpRequest request_;  // changed by the handler alone, in TakeBody
  const Policy policy_;
  const std::function<void()> wake_;
  const std::function<void()> cut_;

  mutable Mutex mutex_;
  State state_ ABSL_GUARDED_BY(mutex_) = State::kNothingSent;
  bool keep_alive_ ABSL_GUARDED_BY(mutex_);
  bool chunked_ ABSL_GUARDED_BY(mutex_) = false;
  bool gone_ ABSL_GUARDED_BY(mutex_) = false;
  bool awake_ ABSL_GUARDED_BY(mutex_) = false;  // wake was called, and Take has not come since
  std::string queue_ ABSL_GUARDED_BY(mutex_);
  int64_t unread_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // queued, or taken and not out yet
  std::function<void()> on_gone_ ABSL_GUARDED_BY(mutex_);
};

// What a handler holds: completes the answer at its end if the handler did not.
class AnswerHandle final : public HttpExchange {
 public:
  explicit AnswerHandle(std::shared_ptr<Answer> answer) : answer_(std::move(answer)) {}
  ~AnswerHandle() override { answer_->Abandon(); }

  const HttpRequest& request() const override { return answer_->request(); }
  std::string TakeBody() override { return answer_->TakeBody(); }
  void Send(HttpResponse response) override { answer_->Send(response); }
  void StartStream(const HttpResponse& head) override { answer_->StartStream(head); }
  bool Write(std::string_view bytes) override { return answer_->Write(bytes); }
  void Finish() override { answer_->Finish(); }
  void OnGone(std::function<void()> gone) override { answer_->OnGone(std::move(gone)); }

 private:
  const std::shared_ptr<Answer> answer_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_HTTP_INTERNAL_ANSWER_H_
