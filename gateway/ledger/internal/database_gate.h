// DatabaseGate: lets readers use a database that its one writer closes and opens anew when the disk fails. Closing
// waits for readers that are at it and takes cursors away from those that are not.
//
// Thread-safety: Enter and NewCursor from any thread; the rest from the writer's thread.
// Ownership: owns the database. Cursors may outlive the gate, with which they end.

#ifndef HEADSTART_GATEWAY_LEDGER_INTERNAL_DATABASE_GATE_H_
#define HEADSTART_GATEWAY_LEDGER_INTERNAL_DATABASE_GATE_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "engine/mutex.h"
#include "gateway/ledger/internal/ledger_database.h"
#include "rocksdb/iterator.h"

namespace headstart::ledger_internal {

// An iterator that may be taken away.
struct CursorState {
  Mutex mutex;
  std::unique_ptr<rocksdb::Iterator> iterator ABSL_GUARDED_BY(mutex);  // null: taken away
};

class DatabaseGate {
 public:
  // Holds the database open while it lives; for as long as a read takes. Null when it is closed.
  class Reader {
   public:
    Reader(const DatabaseGate* gate, LedgerDatabase* database) : gate_(gate), database_(database) {}
    Reader(Reader&& other) noexcept
        : gate_(std::exchange(other.gate_, nullptr)), database_(std::exchange(other.database_, nullptr)) {}
    Reader& operator=(Reader&&) = delete;
    ~Reader() {
      if (gate_ != nullptr) gate_->Leave();
    }
    explicit operator bool() const { return database_ != nullptr; }
    LedgerDatabase* operator->() const { return database_; }

   private:
    const DatabaseGate* gate_;
    LedgerDatabase* database_;
  };

  DatabaseGate() = default;
  ~DatabaseGate() { Close(); }
  DatabaseGate(const DatabaseGate&) = delete;
  DatabaseGate& operator=(const DatabaseGate&) = delete;

  Reader Enter() const ABSL_LOCKS_EXCLUDED(mutex_);
  // A view of the entries as they are now; null when the database is closed.
  std::shared_ptr<CursorState> NewCursor() const ABSL_LOCKS_EXCLUDED(mutex_);

  // --- the writer
  void Open(std::unique_ptr<LedgerDatabase> database) ABSL_LOCKS_EXCLUDED(mutex_);
  void Close() ABSL_LOCKS_EXCLUDED(mutex_);
  LedgerDatabase* database() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Leave() const ABSL_LOCKS_EXCLUDED(mutex_);

  mutable Mutex mutex_;
  std::unique_ptr<LedgerDatabase> database_ ABSL_GUARDED_BY(mutex_);
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  mutable int readers_ ABSL_GUARDED_BY(mutex_) = 0;
  mutable std::vector<std::weak_ptr<CursorState>> cursors_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace headstart::ledger_internal

#endif  // HEADSTART_GATEWAY_LEDGER_INTERNAL_DATABASE_GATE_H_
