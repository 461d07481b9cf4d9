#include "gateway/files/ticker.h"

#include <utility>

namespace headstart {

Ticker::Ticker(std::function<void()> tick, absl::Duration interval)
    : tick_(std::move(tick)), interval_(interval), thread_([this] { Run(); }) {}

Ticker::~Ticker() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  mutex_.NotifyAll();
  thread_.join();
}

void Ticker::TickNow() {
  {
    MutexLock lock(mutex_);
    tick_now_ = true;
  }
  mutex_.NotifyAll();
}

void Ticker::Run() {
  while (true) {
    {
      MutexLock lock(mutex_);
      // A wake-up for no reason only means a tick sooner.
      if (!tick_now_ && !stopping_) mutex_.WaitFor(interval_);
      if (stopping_) return;
      tick_now_ = false;
    }
    tick_();
  }
}

}  // namespace headstart
