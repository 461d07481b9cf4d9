#include "gateway/http/internal/answer.h"

#include <utility>

#include "fmt/format.h"
#include "gateway/http/internal/response_head.h"

namespace headstart {

Answer::Answer(HttpRequest request, Policy policy, std::function<void()> wake, std::function<void()> cut)
    : request_(std::move(request)),
      policy_(std::move(policy)),
      wake_(std::move(wake)),
      cut_(std::move(cut)),
      keep_alive_(policy_.keep_alive) {}

// True when the connection is to be woken, once the lock is released.
bool Answer::Queue(std::string bytes) {
  if (gone_) return false;
  unread_bytes_ += static_cast<int64_t>(bytes.size());
  if (queue_.empty()) {
    queue_ = std::move(bytes);
  } else {
    queue_ += bytes;
  }
  return !std::exchange(awake_, true);
}

void Answer::Send(const HttpResponse& response) {
  bool wake;
  std::function<void()> unneeded;  // may hold the handler itself: let go of outside the lock
  {
    MutexLock lock(mutex_);
    if (state_ != State::kNothingSent) return;
    state_ = State::kComplete;
    unneeded = std::exchange(on_gone_, nullptr);
    const ResponseFraming framing = {.content_length = response.body.size(), .keep_alive = keep_alive_};
    std::string bytes = ResponseHead(response, framing, policy_.now(), policy_.cors_origin);
    if (has_body() && response.status != 204) bytes += response.body;
    wake = Queue(std::move(bytes));
  }
  if (wake) wake_();
}

void Answer::StartStream(const HttpResponse& head) {
  bool wake;
  {
    MutexLock lock(mutex_);
    if (state_ != State::kNothingSent) return;
    state_ = State::kStreaming;
    chunked_ = has_body() && !policy_.is_http_1_0;
    keep_alive_ = keep_alive_ && (chunked_ || !has_body());
    const ResponseFraming framing = {.content_length = std::nullopt, .chunked = chunked_, .keep_alive = keep_alive_};
    wake = Queue(ResponseHead(head, framing, policy_.now(), policy_.cors_origin));
  }
  if (wake) wake_();
}

bool Answer::Write(std::string_view bytes) {
  bool wake = false;
  bool too_slow = false;
  {
    MutexLock lock(mutex_);
    if (gone_ || state_ != State::kStreaming) return false;
    if (bytes.empty() || !has_body()) return true;  // an empty chunk would end the answer
    too_slow = unread_bytes_ + static_cast<int64_t>(bytes.size()) > policy_.max_unread_bytes;
    if (!too_slow) {
      wake = Queue(chunked_ ? fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes) : std::string(bytes));
    }
  }
  if (too_slow) cut_();
  if (wake) wake_();
  return !too_slow;
}

void Answer::Finish() {
  bool wake;
  std::function<void()> unneeded;
  {
    MutexLock lock(mutex_);
    if (state_ != State::kStreaming) return;
    state_ = State::kComplete;
    unneeded = std::exchange(on_gone_, nullptr);
    wake = Queue(chunked_ ? "0\r\n\r\n" : "");
  }
  if (wake) wake_();
}

void Answer::OnGone(std::function<void()> gone) {
  {
    MutexLock lock(mutex_);
    if (state_ == State::kComplete) return;
    if (!gone_) {
      on_gone_ = std::move(gone);
      return;
    }
  }
  gone();
}

void Answer::Abandon() {
  State state;
  {
    MutexLock lock(mutex_);
    if (gone_) return;
    state = state_;
  }
  if (state == State::kNothingSent) Send(HttpError(500, "this server did not answer; its log may say why"));
  if (state == State::kStreaming) cut_();
}

Answer::Output Answer::Take() {
  MutexLock lock(mutex_);
  awake_ = false;
  return {std::exchange(queue_, {}), state_ == State::kComplete};
}

void Answer::Taken(size_t bytes) {
  MutexLock lock(mutex_);
  unread_bytes_ -= static_cast<int64_t>(bytes);
}

void Answer::Gone() {
  std::function<void()> on_gone;
  {
    MutexLock lock(mutex_);
    gone_ = true;
    on_gone = std::exchange(on_gone_, nullptr);
  }
  if (on_gone) on_gone();
}

bool Answer::complete() const {
  MutexLock lock(mutex_);
  return state_ == State::kComplete;
}

bool Answer::keep_alive() const {
  MutexLock lock(mutex_);
  return keep_alive_;
}

void Answer::CloseAfterwards() {
  MutexLock lock(mutex_);
  keep_alive_ = false;
}

}  // namespace headstart
