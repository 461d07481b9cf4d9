#include "engine/scheduler/clock.h"

#include <chrono>

#include "absl/time/clock.h"

namespace headstart {

Clock SteadyClock() {
  return [day = absl::Now(), start = std::chrono::steady_clock::now()] {
    return day + absl::FromChrono(std::chrono::steady_clock::now() - start);
  };
}

}  // namespace headstart
