// ConnectionList: the open connections of a server.
//
// Thread-safety: every method may be called from any thread.
// Ownership: holds the connections until they are closed.

#ifndef HEADSTART_GATEWAY_HTTP_INTERNAL_CONNECTION_LIST_H_
#define HEADSTART_GATEWAY_HTTP_INTERNAL_CONNECTION_LIST_H_

#include <memory>
#include <unordered_map>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "engine/mutex.h"
#include "gateway/http/internal/connection.h"

namespace headstart {

class ConnectionList {
 public:
  void Add(std::shared_ptr<Connection> connection) ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    const Connection* key = connection.get();
    connections_.emplace(key, std::move(connection));
  }

  void Remove(const Connection& connection) ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    connections_.erase(&connection);
    if (connections_.empty()) mutex_.NotifyAll();
  }

  size_t size() const ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    return connections_.size();
  }

  std::vector<std::shared_ptr<Connection>> All() const ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    std::vector<std::shared_ptr<Connection>> all;
    all.reserve(connections_.size());
    for (const auto& [key, connection] : connections_) all.push_back(connection);
    return all;
  }

  // False when `patience` ended first.
  bool WaitUntilEmpty(absl::Duration patience) ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::Time deadline = absl::Now() + patience;
    MutexLock lock(mutex_);
    while (!connections_.empty() && absl::Now() < deadline) mutex_.WaitFor(deadline - absl::Now());
    return connections_.empty();
  }

 private:
  mutable Mutex mutex_;
  std::unordered_map<const Connection*, std::shared_ptr<Connection>> connections_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_HTTP_INTERNAL_CONNECTION_LIST_H_
