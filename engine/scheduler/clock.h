// Clock: where the scheduler's time comes from, so that tests can set it by hand.
//
// Thread-safety: a Clock may be called from any thread.

#ifndef HEADSTART_ENGINE_SCHEDULER_CLOCK_H_
#define HEADSTART_ENGINE_SCHEDULER_CLOCK_H_

#include <functional>

#include "absl/time/time.h"

namespace headstart {

using Clock = std::function<absl::Time()>;

// The time of day at this call, carried on by the machine's monotonic clock: setting the time of day moves it not at
// all.
Clock SteadyClock();

}  // namespace headstart

#endif  // HEADSTART_ENGINE_SCHEDULER_CLOCK_H_
