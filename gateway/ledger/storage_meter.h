// StorageMeter: makes a record of every registered prefix and every hour of UTC in which it was kept.
//
// Whenever it is told to, it asks which prefixes there are. One that it sees for the first time counts from the hour's
// beginning, or from when it was created; so a restart leaves no gap within the hour. One that is gone counts until it
// expired, or until it was seen last. Ids are made of prefix and hour: when a record is made again, after a restart,
// the ledger keeps the longer of the two and bills it once. Hours in which the server did not run are not billed.
//
// Thread-safety: Tick and Settle from any thread; what they cause runs where the source calls back.
// Ownership: shared with the source's callbacks, so it may be let go of while one is under way.
//
//   auto meter = StorageMeter::Create({.model = name, .prefixes = list, .record = bill, .now = absl::Now});
//   meter->Tick();      // every minute: that much of a deleted prefix's time may be missed
//   meter->Settle([] {});    // at the end

#ifndef HEADSTART_GATEWAY_LEDGER_STORAGE_METER_H_
#define HEADSTART_GATEWAY_LEDGER_STORAGE_METER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "engine/cached_prefix.h"
#include "engine/mutex.h"

namespace headstart {

// One prefix in one hour.
struct StorageRecord {
  std::string request_id;  // "storage/tenant/<prefix>/<created, ns>/<hour since 1970>", or "storage/public/…"
  std::string tenant;      // empty: a public prefix, which is on the operator's account
  std::string model;
  absl::Time start;
  absl::Time end;  // within the hour
  int64_t token_seconds = 0;
  friend bool operator==(const StorageRecord&, const StorageRecord&) = default;
};

class StorageMeter : public std::enable_shared_from_this<StorageMeter> {
 public:
  struct Settings {
    std::string model;
    // Calls back once, from any thread, with the prefixes of all tenants and the public ones.
    std::function<void(std::function<void(std::vector<CachedPrefix>)>)> prefixes;
    std::function<void(const StorageRecord&)> record;
    std::function<absl::Time()> now;
  };

  static std::shared_ptr<StorageMeter> Create(Settings settings);

  // Looks which prefixes there are, and records the hours that are over.
  void Tick();

  // As Tick, and records the hour that is under way, up to now. Calls `done` when that has been done, from where the
  // source calls back. Counting goes on.
  void Settle(std::function<void()> done);

 private:
  struct Kept {
    std::string tenant;
    int64_t tokens = 0;
    absl::Time from;  // what is before is recorded
    absl::Time seen;  // the last time it was there
    absl::Time expires;
  };

  explicit StorageMeter(Settings settings) : settings_(std::move(settings)) {}

  void RecordBegun() ABSL_LOCKS_EXCLUDED(mutex_);
  void See(const std::vector<CachedPrefix>& prefixes) ABSL_LOCKS_EXCLUDED(mutex_);
  void See(const CachedPrefix& prefix, absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Records whole hours before `until`, and the begun one when `begun` says so.
  enum class Begun { kLeave, kRecord };
  void RecordUntil(const std::string& id, Kept& kept, absl::Time until, Begun begun)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Settings settings_;
  Mutex mutex_;
  std::map<std::string, Kept> kept_ ABSL_GUARDED_BY(mutex_);  // by the id without the hour
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_LEDGER_STORAGE_METER_H_
