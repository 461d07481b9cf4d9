// WorkerPool: a TaskRunner of a few threads and a bounded queue, first come first served.
//
// Thread-safety: as TaskRunner; Stop is one thread's. Destruction stops it; no TryRun may be under way then.

#ifndef HEADSTART_GATEWAY_SERVICES_WORKER_POOL_H_
#define HEADSTART_GATEWAY_SERVICES_WORKER_POOL_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "engine/mutex.h"
#include "gateway/services/task_runner.h"

namespace headstart {

class WorkerPool final : public TaskRunner {
 public:
  WorkerPool(int threads, size_t max_queued);
  ~WorkerPool() override;
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Runs what is queued, then joins. Nothing is taken from then on. Calling it again is no fault.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

  bool TryRun(std::function<void()> task) override ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Work() ABSL_LOCKS_EXCLUDED(mutex_);
  bool HasNews() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopping_ || !queue_.empty(); }

  const size_t max_queued_;
  Mutex mutex_;
  std::deque<std::function<void()>> queue_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_WORKER_POOL_H_
