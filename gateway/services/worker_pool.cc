#include "gateway/services/worker_pool.h"

#include <utility>

namespace headstart {

WorkerPool::WorkerPool(int threads, size_t max_queued) : max_queued_(max_queued) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Work(); });
}

WorkerPool::~WorkerPool() { Stop(); }

void WorkerPool::Stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  mutex_.NotifyAll();
  for (std::thread& thread : std::exchange(threads_, {})) thread.join();
}

bool WorkerPool::TryRun(std::function<void()> task) {
  MutexLock lock(mutex_);
  if (stopping_ || queue_.size() >= max_queued_) return false;
  queue_.push_back(std::move(task));
  mutex_.NotifyAll();
  return true;
}

void WorkerPool::Work() {
  for (;;) {
    std::function<void()> task;
    {
      MutexLock lock(mutex_);
      while (!HasNews()) mutex_.Wait();
      if (queue_.empty()) return;
      task = std::move(queue_.front());
      queue_.pop_front();
    }
    task();
  }
}

}  // namespace headstart
