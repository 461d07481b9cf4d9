// FileWatcher: a thread that has files looked at for changes, now and then and whenever it is told to.
//
// Thread-safety: LookNow may be called from any thread. Destruction joins the thread.
// Ownership: borrows what it refreshes, which outlives it.

#ifndef HEADSTART_GATEWAY_FILES_FILE_WATCHER_H_
#define HEADSTART_GATEWAY_FILES_FILE_WATCHER_H_

#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "engine/mutex.h"
#include "gateway/files/watched_files.h"

namespace headstart {

class FileWatcher {
 public:
  FileWatcher(std::vector<Refreshable*> files, absl::Duration interval);
  ~FileWatcher();
  FileWatcher(const FileWatcher&) = delete;
  FileWatcher& operator=(const FileWatcher&) = delete;

  // Soon, and without waiting for it.
  void LookNow() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Watch() ABSL_LOCKS_EXCLUDED(mutex_);

  const std::vector<Refreshable*> files_;
  const absl::Duration interval_;
  Mutex mutex_;
  bool look_now_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_FILES_FILE_WATCHER_H_
