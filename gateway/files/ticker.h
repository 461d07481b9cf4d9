// Ticker: a thread that does something now and then, and whenever it is told to.
//
// Thread-safety: TickNow may be called from any thread. `tick` is called on the ticker's thread, one call at a time.
// Destruction ends a tick that is under way, and joins.
//
//   Ticker ticker([&] { prices->Refresh(); }, absl::Seconds(1));

#ifndef HEADSTART_GATEWAY_FILES_TICKER_H_
#define HEADSTART_GATEWAY_FILES_TICKER_H_

#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "engine/mutex.h"

namespace headstart {

class Ticker {
 public:
  Ticker(std::function<void()> tick, absl::Duration interval);
  ~Ticker();
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

  // Soon, and without waiting for it.
  void TickNow() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);

  const std::function<void()> tick_;
  const absl::Duration interval_;
  Mutex mutex_;
  bool tick_now_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_FILES_TICKER_H_
