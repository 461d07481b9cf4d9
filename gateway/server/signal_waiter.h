// SignalWaiter: SIGINT, SIGTERM and, where no terminal is attached, SIGHUP as events that one thread waits for,
// together with a wake-up from any other.
//
// Thread-safety: Notify may be called from any thread; Wait from one. Construct before any other thread starts: it
// blocks the signals for the calling thread, and threads inherit that.

#ifndef HEADSTART_GATEWAY_SERVER_SIGNAL_WAITER_H_
#define HEADSTART_GATEWAY_SERVER_SIGNAL_WAITER_H_

#include "absl/time/time.h"

namespace headstart {

class SignalWaiter {
 public:
  enum class Event {
    kSignal,  // SIGINT or SIGTERM
    kReload,  // SIGHUP
    kNotified,
    kTimeout,
  };

  SignalWaiter();
  ~SignalWaiter();
  SignalWaiter(const SignalWaiter&) = delete;
  SignalWaiter& operator=(const SignalWaiter&) = delete;

  // The next event. A signal that came earlier is not lost, and comes before a notification.
  Event Wait(absl::Duration timeout);

  void Notify();

 private:
  int signal_fd_;
  int event_fd_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVER_SIGNAL_WAITER_H_
