#include "prefix_store/transfer/io_executor.h"

#include <deque>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "prefix_store/mutex.h"

namespace headstart {
namespace {

// Threads that take work from one queue, in order, until it is closed and empty.
class Lane {
 public:
  explicit Lane(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Serve(); });
  }

  ~Lane() {
    Close();
    for (std::thread& thread : threads_) thread.join();
  }

  void Add(IoExecutor::Work work) {
    MutexLock lock(mutex_);
    queue_.push_back(std::move(work));
    mutex_.NotifyAll();
  }

 private:
  void Close() {
    MutexLock lock(mutex_);
    closed_ = true;
    mutex_.NotifyAll();
  }

  std::optional<IoExecutor::Work> Next() {
    MutexLock lock(mutex_);
    while (queue_.empty() && !closed_) mutex_.Wait();
    if (queue_.empty()) return std::nullopt;
    std::optional<IoExecutor::Work> work = std::move(queue_.front());
    queue_.pop_front();
    return work;
  }

  void Serve() {
    while (auto work = Next()) (*work)();
  }

  Mutex mutex_;
  std::deque<IoExecutor::Work> queue_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

class ThreadExecutor final : public IoExecutor {
 public:
  explicit ThreadExecutor(int readers) : reads_(readers), writes_(1) {}

  void Run(IoLane lane, Work work) override { (lane == IoLane::kRead ? reads_ : writes_).Add(std::move(work)); }

 private:
  Lane reads_;
  Lane writes_;
};

}  // namespace

std::unique_ptr<IoExecutor> NewThreadExecutor(int readers) { return std::make_unique<ThreadExecutor>(readers); }

}  // namespace headstart
