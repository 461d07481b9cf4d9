// ThreadPool: a fixed set of threads for the many short parallel loops of a model's step. The caller works too; idle
// workers spin for a moment, since the next loop is usually microseconds away, then sleep, so that an idle server burns
// no processor.
//
// Thread-safety: one thread calls ParallelFor at a time; the pool's own threads run the body.
// Ownership: threads live as long as the pool; ParallelFor returns after the last call of its body has.
//
// Which thread runs which index is not fixed. Bodies write to places of their own index.
//
//   ThreadPool pool(4);
//   pool.ParallelFor(rows, [&](int row, int worker) { Normalize(row, scratch[worker]); });

#ifndef HEADSTART_ENGINE_BACKEND_THREAD_POOL_H_
#define HEADSTART_ENGINE_BACKEND_THREAD_POOL_H_

#include <atomic>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "engine/mutex.h"

namespace headstart {

class ThreadPool {
 public:
  // `threads` counts the caller; 1 starts none. REQUIRES: threads >= 1.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls body(index, worker) for each index in [0, count), in any order, at the same time on up to threads() threads;
  // `worker` in [0, threads()) tells the calling thread from others, for scratch memory. Allocates nothing.
  template <typename Body>
  void ParallelFor(int count, Body&& body) {
    using Callable = std::remove_reference_t<Body>;
    Run(
        count, [](void* context, int index, int worker) { (*static_cast<Callable*>(context))(index, worker); },
        const_cast<void*>(static_cast<const void*>(&body)));
  }

 private:
  using Invoke = void (*)(void* context, int index, int worker);

  void Run(int count, Invoke invoke, void* context);
  // Takes indices of the current loop until none is left.
  void Help(int worker);
  void Work(int worker);
  bool SpinForWork() const;
  // False when the pool is being destroyed.
  bool SleepForWork() ABSL_LOCKS_EXCLUDED(mutex_);
  bool HasWork() const;
  void AwaitCompletion(int count);

  // The loop's number in the high half and the indices not yet taken in the low: taking one is a compare-exchange of
  // the whole, so that a thread that slept through a loop can never take an index of the next by the arguments of the
  // last. invoke_, context_ and count_ change only while no index is left.
  std::atomic<uint64_t> ticket_{0};
  std::atomic<Invoke> invoke_{nullptr};
  std::atomic<void*> context_{nullptr};
  std::atomic<int> count_{0};
  std::atomic<int> done_{0};
  std::atomic<int> sleepers_{0};

  Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> workers_;
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_BACKEND_THREAD_POOL_H_
