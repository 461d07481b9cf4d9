#include "gateway/server/signal_waiter.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <limits>

#include "absl/time/clock.h"

namespace headstart {
namespace {

int TimeoutMilliseconds(absl::Duration timeout) {
  if (timeout == absl::InfiniteDuration()) return -1;
  const int64_t ms = absl::ToInt64Milliseconds(absl::Ceil(timeout, absl::Milliseconds(1)));
  return static_cast<int>(std::clamp<int64_t>(ms, 0, std::numeric_limits<int>::max()));
}

}  // namespace

SignalWaiter::SignalWaiter() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  // A terminal that is closed ends what runs in it; everywhere else the signal means to read files anew.
  if (isatty(STDIN_FILENO) == 0) sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  // A peer, or a reader of the log, that goes away is no reason to end.
  std::signal(SIGPIPE, SIG_IGN);
  signal_fd_ = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  event_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

SignalWaiter::~SignalWaiter() {
  close(signal_fd_);
  close(event_fd_);
}

SignalWaiter::Event SignalWaiter::Wait(absl::Duration timeout) {
  const absl::Time until = absl::Now() + timeout;
  for (;;) {
    std::array<pollfd, 2> fds = {{{signal_fd_, POLLIN, 0}, {event_fd_, POLLIN, 0}}};
    const int ready = poll(fds.data(), fds.size(), TimeoutMilliseconds(until - absl::Now()));
    if (ready < 0 && errno == EINTR) continue;
    signalfd_siginfo info;
    if (read(signal_fd_, &info, sizeof(info)) == sizeof(info)) {
      return info.ssi_signo == SIGHUP ? Event::kReload : Event::kSignal;
    }
    uint64_t count = 0;
    if (read(event_fd_, &count, sizeof(count)) == sizeof(count)) return Event::kNotified;
    if (ready <= 0) return Event::kTimeout;
  }
}

void SignalWaiter::Notify() {
  const uint64_t one = 1;
  // An eventfd refuses a write only when its counter is full, and then it is readable already.
  [[maybe_unused]] const auto written = write(event_fd_, &one, sizeof(one));
}

}  // namespace headstart
