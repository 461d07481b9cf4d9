// TaskRunner: somewhere to do work that takes time, so that gRPC's few threads never do.
//
// Thread-safety: TryRun may be called from any thread.

#ifndef HEADSTART_GATEWAY_SERVICES_TASK_RUNNER_H_
#define HEADSTART_GATEWAY_SERVICES_TASK_RUNNER_H_

#include <functional>

namespace headstart {

class TaskRunner {
 public:
  virtual ~TaskRunner() = default;

  // Runs `task` soon, maybe on another thread. False when too much waits already: the task will not run.
  virtual bool TryRun(std::function<void()> task) = 0;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_TASK_RUNNER_H_
