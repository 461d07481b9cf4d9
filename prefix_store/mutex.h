// Mutex: std::mutex with a condition, carrying the annotations that clang checks. Unlike Abseil's, which is linked as
// Debian built it, its locks are seen by ThreadSanitizer.
//
// Thread-safety: that is what it is for.
//
//   MutexLock lock(mutex_);
//   while (!HasWork()) mutex_.Wait();

#ifndef HEADSTART_PREFIX_STORE_MUTEX_H_
#define HEADSTART_PREFIX_STORE_MUTEX_H_

#include <condition_variable>
#include <mutex>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"

namespace headstart {

class ABSL_LOCKABLE Mutex {
 public:
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }

  // Lets go of the lock until somebody notifies, or for no reason at all: call it in a loop.
  void Wait() ABSL_EXCLUSIVE_LOCKS_REQUIRED(this) {
    std::unique_lock<std::mutex> held(mutex_, std::adopt_lock);
    changed_.wait(held);
    held.release();
  }
  // The same, and for no longer than `patience`.
  void WaitFor(absl::Duration patience) ABSL_EXCLUSIVE_LOCKS_REQUIRED(this) {
    std::unique_lock<std::mutex> held(mutex_, std::adopt_lock);
    changed_.wait_for(held, absl::ToChronoNanoseconds(patience));
    held.release();
  }
  void NotifyAll() { changed_.notify_all(); }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_MUTEX_H_
