// SharedDatabase: the open database, which many threads use and one may close and open again.
//
// Thread-safety: Take from any thread; Replace from one at a time.
//
//   auto use = shared.Take();
//   if (!use.ok()) return use.status();      // there is none now, and why
//   (*use)->db().Get(...);

#ifndef HEADSTART_PREFIX_STORE_TIER_INTERNAL_SHARED_DATABASE_H_
#define HEADSTART_PREFIX_STORE_TIER_INTERNAL_SHARED_DATABASE_H_

#include <functional>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
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
    BlockDatabase& operator*() const { return *database_; }
    BlockDatabase* operator->() const { return database_; }

   private:
    friend class SharedDatabase;
    Use(SharedDatabase& owner, BlockDatabase* database) : owner_(owner), database_(database) {}
    SharedDatabase& owner_;
    BlockDatabase* database_;
  };

  // What is to take the place of a database: one that may be written to when the status is OK, else one for reading or
  // none at all.
  struct Replacement {
    absl::Status status;
    std::unique_ptr<BlockDatabase> database;
  };

  absl::StatusOr<Use> Take() {
    MutexLock lock(mutex_);
    if (database_ == nullptr) return why_none_;
    ++users_;
    return Use(*this, database_.get());
  }

  // Closes the database once nobody uses it and puts what `open` returns in its place; until then there is none, and
  // `meanwhile` says why. Returns the replacement's status.
  absl::Status Replace(absl::Status meanwhile, absl::FunctionRef<Replacement()> open) {
    TakeOut(std::move(meanwhile)).reset();
    Replacement fresh = open();
    MutexLock lock(mutex_);
    database_ = std::move(fresh.database);
    why_none_ = std::move(fresh.status);
    return why_none_;
  }

 private:
  std::unique_ptr<BlockDatabase> TakeOut(absl::Status meanwhile) {
    MutexLock lock(mutex_);
    why_none_ = std::move(meanwhile);
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
  absl::Status why_none_ ABSL_GUARDED_BY(mutex_) = absl::UnavailableError("the disk tier's database is not open yet");
  int users_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace headstart::internal

#endif  // HEADSTART_PREFIX_STORE_TIER_INTERNAL_SHARED_DATABASE_H_
