#include "gateway/ledger/internal/database_gate.h"

namespace headstart::ledger_internal {

DatabaseGate::Reader DatabaseGate::Enter() const {
  MutexLock lock(mutex_);
  if (database_ == nullptr || closing_) return {nullptr, nullptr};
  ++readers_;
  return {this, database_.get()};
}

void DatabaseGate::Leave() const {
  MutexLock lock(mutex_);
  --readers_;
  mutex_.NotifyAll();
}

std::shared_ptr<CursorState> DatabaseGate::NewCursor() const {
  MutexLock lock(mutex_);
  if (database_ == nullptr || closing_) return nullptr;
  auto state = std::make_shared<CursorState>();
  {
    MutexLock state_lock(state->mutex);
    state->iterator.reset(database_->db().NewIterator(rocksdb::ReadOptions(), database_->records()));
  }
  std::erase_if(cursors_, [](const auto& cursor) { return cursor.expired(); });
  cursors_.push_back(state);
  return state;
}

void DatabaseGate::Open(std::unique_ptr<LedgerDatabase> database) {
  Close();
  MutexLock lock(mutex_);
  database_ = std::move(database);
}

void DatabaseGate::Close() {
  std::unique_ptr<LedgerDatabase> closed;
  std::vector<std::weak_ptr<CursorState>> cursors;
  {
    MutexLock lock(mutex_);
    closing_ = true;
    while (readers_ > 0) mutex_.Wait();
    closed = std::move(database_);
    cursors = std::exchange(cursors_, {});
    closing_ = false;
  }
  for (const auto& weak : cursors) {
    if (const auto cursor = weak.lock()) {
      MutexLock cursor_lock(cursor->mutex);
      cursor->iterator.reset();
    }
  }
}

LedgerDatabase* DatabaseGate::database() {
  MutexLock lock(mutex_);
  return database_.get();
}

}  // namespace headstart::ledger_internal
