#include "gateway/files/file_watcher.h"

#include <utility>

namespace headstart {

FileWatcher::FileWatcher(std::vector<Refreshable*> files, absl::Duration interval)
    : files_(std::move(files)), interval_(interval), thread_([this] { Watch(); }) {}

FileWatcher::~FileWatcher() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  mutex_.NotifyAll();
  thread_.join();
}

void FileWatcher::LookNow() {
  {
    MutexLock lock(mutex_);
    look_now_ = true;
  }
  mutex_.NotifyAll();
}

void FileWatcher::Watch() {
  while (true) {
    {
      MutexLock lock(mutex_);
      // A wake-up for no reason only means looking sooner.
      if (!look_now_ && !stopping_) mutex_.WaitFor(interval_);
      if (stopping_) return;
      look_now_ = false;
    }
    for (Refreshable* file : files_) file->Refresh();
  }
}

}  // namespace headstart
