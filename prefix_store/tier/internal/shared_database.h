// SharedDatabase: the open database, which many threads use and one may close and open again.
//
// Thread-safety: Take from any thread; Replace from one at a time.
//
//   if (auto use = shared.Take()) use->db().Get(...);      // false: there is none now

#ifndef HEADSTART_PREFIX_STORE_TIER_INTERNAL_SHARED_DATABASE_H_
#define HEADSTART_PREFIX_STORE_TIER_INTERNAL_SHARED_DATABASE_H_

#include <functional>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "prefix_store/mutex.h"
#include "prefix_store/tier/internal/block_database.h"

namespace headstart::internal {

class SharedDatabase {
 public:
  // Keeps the database open while it lives. Move-only.
  class Use {
   public:
    Use(Use&& other) noexcept : owner_(other.owner_), database_(std::exchange(other.database_, nullptr)) {}
    Use& operator=(Use&&) = delete;
    ~Use() {
      if (database_ != nullptr) owner_.Drop();
    }
    explicit operator bool() const { return database_ != nullptr; }
    BlockDatabase& operator*() const { return *database_; }
    BlockDatabase* operator->() const { return database_; }

   private:
    friend class SharedDatabase;
    Use(SharedDatabase& owner, BlockDatabase* database) : owner_(owner), database_(database) {}
    SharedDatabase& owner_;
    BlockDatabase* database_;
  };

  explicit SharedDatabase(std::unique_ptr<BlockDatabase> database) : database_(std::move(database)) {}

  Use Take() {
    MutexLock lock(mutex_);
    if (database_ != nullptr) ++users_;
    return Use(*this, database_.get());
  }

  // Closes the database once nobody uses it and puts what `open` returns in its place; until then there is none.
  void Replace(absl::FunctionRef<std::unique_ptr<BlockDatabase>()> open) {
    TakeOut().reset();
    std::unique_ptr<BlockDatabase> fresh = open();
    MutexLock lock(mutex_);
    database_ = std::move(fresh);
  }

 private:
  std::unique_ptr<BlockDatabase> TakeOut() {
    MutexLock lock(mutex_);
    std::unique_ptr<BlockDatabase> old = std::move(database_);
    while (users_ > 0) mutex_.Wait();
    return old;
  }

  void Drop() {
    MutexLock lock(mutex_);
    --users_;
    mutex_.NotifyAll();
  }

  Mutex mutex_;
  std::unique_ptr<BlockDatabase> database_ ABSL_GUARDED_BY(mutex_);
  int users_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace headstart::internal

#endif  // HEADSTART_PREFIX_STORE_TIER_INTERNAL_SHARED_DATABASE_H_
