// ServiceContext: what the calls of all services share.
//
// Thread-safety: everything in it may be used from any thread.
// Ownership: borrows; what it points to outlives the service and every generation of the engine.

#ifndef HEADSTART_GATEWAY_SERVICES_SERVICE_CONTEXT_H_
#define HEADSTART_GATEWAY_SERVICES_SERVICE_CONTEXT_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "engine/engine.h"
#include "gateway/accounting/accountant.h"
#include "gateway/auth/authenticator.h"
#include "gateway/insight/prompt_history.h"
#include "gateway/services/limits.h"
#include "gateway/services/random_source.h"
#include "gateway/services/request_observer.h"
#include "gateway/services/task_runner.h"

namespace headstart {

struct ServiceContext {
  Engine& engine;
  const Authenticator& authenticator;
  TaskRunner& workers;  // renders and tokenizes prompts
  RequestObserver& observer;
  Accountant& accountant;
  PromptHistory& history;
  RandomSource random;                          // seeds and request ids
  std::function<absl::Time()> now = absl::Now;  // for templates that write the date, and for expiries
  std::string model_name;                       // what requests call the model
  RequestLimits limits;
  int64_t max_unread_bytes = 16 << 20;  // of events a client has not read; a slower one is cut off

  // From when the server drains: new work is refused with UNAVAILABLE, and what runs goes on.
  std::atomic<bool> stopping = false;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_SERVICE_CONTEXT_H_
