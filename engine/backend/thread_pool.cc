#include "engine/backend/thread_pool.h"

namespace headstart {
namespace {

// About 50 µs: longer than the serial stretches between two loops of a step, shorter than the pause between two steps'
// worth of idle service.
constexpr int kSpins = 2000;
constexpr uint64_t kNextLoop = uint64_t{1} << 32;

int Remaining(uint64_t ticket) { return static_cast<int>(ticket & 0xffffffffu); }

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

ThreadPool::ThreadPool(int threads) {
  for (int worker = 1; worker < threads; ++worker) {
    workers_.emplace_back([this, worker] { Work(worker); });
  }
}

ThreadPool::~ThreadPool() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  mutex_.NotifyAll();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::Run(int count, Invoke invoke, void* context) {
  if (count <= 0) return;
  if (workers_.empty() || count == 1) {
    for (int index = 0; index < count; ++index) invoke(context, index, 0);
    return;
  }
  invoke_.store(invoke, std::memory_order_relaxed);
  context_.store(context, std::memory_order_relaxed);
  count_.store(count, std::memory_order_relaxed);
  done_.store(0, std::memory_order_relaxed);
  const uint64_t loop = (ticket_.load(std::memory_order_relaxed) & ~(kNextLoop - 1)) + kNextLoop;
  // Sequentially consistent with the sleepers' own store and load: either a worker sees the work, or we see that it
  // sleeps.
  ticket_.store(loop | static_cast<uint64_t>(count), std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) > 0) {
    MutexLock lock(mutex_);
    mutex_.NotifyAll();
  }
  Help(0);
  AwaitCompletion(count);
}

void ThreadPool::Help(int worker) {
  uint64_t ticket = ticket_.load(std::memory_order_acquire);
  while (Remaining(ticket) > 0) {
    const Invoke invoke = invoke_.load(std::memory_order_relaxed);
    void* const context = context_.load(std::memory_order_relaxed);
    const int count = count_.load(std::memory_order_relaxed);
    const int index = count - Remaining(ticket);
    // Success means that this loop is still the current one, hence that the arguments read above are its own.
    if (!ticket_.compare_exchange_weak(ticket, ticket - 1, std::memory_order_acq_rel, std::memory_order_acquire))
      continue;
    invoke(context, index, worker);
    done_.fetch_add(1, std::memory_order_release);
    ticket = ticket_.load(std::memory_order_acquire);
  }
}

// The last indices are running elsewhere; they take microseconds, unless their thread lost its processor to someone.
void ThreadPool::AwaitCompletion(int count) {
  for (int spins = 0; done_.load(std::memory_order_acquire) < count; ++spins) {
    if (spins < kSpins) {
      Pause();
    } else {
      std::this_thread::yield();
    }
  }
}

void ThreadPool::Work(int worker) {
  while (SpinForWork() || SleepForWork()) Help(worker);
}

bool ThreadPool::HasWork() const { return Remaining(ticket_.load(std::memory_order_seq_cst)) > 0; }

bool ThreadPool::SpinForWork() const {
  for (int spins = 0; spins < kSpins; ++spins) {
    if (HasWork()) return true;
    Pause();
  }
  return false;
}

bool ThreadPool::SleepForWork() {
  MutexLock lock(mutex_);
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  while (!HasWork() && !stopping_) mutex_.Wait();
  sleepers_.fetch_sub(1, std::memory_order_seq_cst);
  return !stopping_;
}

}  // namespace headstart
