// Ledger: the account on disk: one entry for each (tenant, request_id), found by its id and by the time it ended, and
// sums by the hour that always equal the sums of the entries.
//
// Thread-safety: every method from any thread; destruction when no other call is under way. Callbacks and the listener
// are called on the ledger's own thread.
// Ownership: owns its directory, database and thread; borrows environment and listener, which outlive it.
// Destruction writes what waits; what the disk still refuses goes to on_event as lines of JSON, so that nothing is lost
// without a word.
//
// Errors: Open, FAILED_PRECONDITION saying what to do: the directory is in use, is not a ledger's or has a newer
// format; otherwise those of the disk. Reads: UNAVAILABLE while the disk has failed, DATA_LOSS when it gives back
// something else.
//
// Invariants:
//  1. What `done` said was recorded survives a crash of the process and of the machine.
//  2. A posting is in the account once, whatever failed between.
//  3. The sums of an hour are the sums of the entries that ended in it, as long as both are kept.
//
//   auto ledger = Ledger::Open({.directory = "/var/lib/headstart/ledger"});
//   (*ledger)->Post(entry, [](const PostResult& result) { ... });

#ifndef HEADSTART_GATEWAY_LEDGER_LEDGER_H_
#define HEADSTART_GATEWAY_LEDGER_LEDGER_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "engine/mutex.h"
#include "gateway/ledger/internal/database_gate.h"
#include "gateway/ledger/internal/ledger_writer.h"
#include "gateway/ledger/ledger_listener.h"
#include "gateway/ledger/record_cursor.h"
#include "gateway/ledger/usage_hour.h"
#include "headstart/v1/usage_service.pb.h"

namespace headstart {

struct LedgerOptions {
  std::string directory = {};   // empty: in memory, for as long as the process lives
  rocksdb::Env* env = nullptr;  // null: the system's
  LedgerListener* listener = nullptr;
  std::function<void(const std::string&)> on_event = nullptr;  // sentences for the log, from any thread
  std::function<absl::Time()> now = absl::Now;                 // what retention is counted from

  int64_t max_waiting = 100'000;  // postings that may wait for the disk before accepting() says no: some 60 MB
  absl::Duration keep_records = absl::Hours(24 * 90);
  absl::Duration keep_hours = absl::Hours(24 * 800);  // at least as long; two years and some
  absl::Duration expire_every = absl::Minutes(1);
  int64_t max_records_in_memory = 100'000;  // without a directory: older ones go early, some 80 MB are left. Sums stay

  // After a failure the disk is tried again, at first soon and then half as often each time.
  absl::Duration first_retry = absl::Seconds(1);
  absl::Duration longest_retry = absl::Minutes(1);
};

struct PostResult {
  bool recorded = false;  // false: the disk refuses it for now; it will be written later
  StoredEntry stored;     // when not recorded: as it was posted, as if there were no other attempt
};

class Ledger {
 public:
  static absl::StatusOr<std::unique_ptr<Ledger>> Open(LedgerOptions options);
  ~Ledger();
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  // Takes one attempt of a request into the account: attempts.h says what a repeated one changes. Never refuses:
  // whoever asked accepting() before is bound to be written. Returns at once. REQUIRES: entry.attempts() ≥ 1.
  using Done = std::function<void(const PostResult& result)>;
  void Post(v1::UsageEntry entry, Done done) ABSL_LOCKS_EXCLUDED(mutex_);

  // False when so much waits for the disk that no more work should be let in.
  bool accepting() const { return waiting_ < options_.max_waiting; }
  int64_t waiting() const { return waiting_; }
  // Whether the disk refused the last write.
  bool failing() const { return failing_; }

  // NOT_FOUND when there is none, or none yet.
  absl::StatusOr<v1::UsageEntry> Find(const std::string& tenant, const std::string& request_id) const;

  // Entries that ended at `from` or later and before `to`, as they are now. Does not hold up the writer.
  absl::StatusOr<RecordCursor> ReadRecords(absl::Time from, absl::Time to) const;

  // Sums of the hours that begin in [from, to), in the order of hour, currency, tenant, key, model and labels. `visit`
  // returns false to end it.
  using VisitHour = absl::FunctionRef<bool(const UsageHour& hour, const v1::UsageTotals& totals)>;
  absl::Status ReadHours(absl::Time from, absl::Time to, VisitHour visit) const;

  // --- what the ledger does by itself, for tests and those in a hurry
  // Returns when everything posted before was told done.
  void Flush() ABSL_LOCKS_EXCLUDED(mutex_);
  // Tries the disk again, and returns whether it works.
  bool RetryNow() ABSL_LOCKS_EXCLUDED(mutex_);
  // Removes what is too old.
  void ExpireNow() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  Ledger(LedgerOptions options, std::unique_ptr<rocksdb::Env> memory);

  // Something that the thread is asked to do: done as often as asked.
  struct Request {
    uint64_t asked = 0;
    uint64_t done = 0;
    bool pending() const { return done < asked; }
  };
  // What one round of the thread has to do.
  struct Round {
    std::vector<ledger_internal::Posting> postings;
    uint64_t flushed = 0;
    uint64_t retry = 0;
    uint64_t expire = 0;
    bool retry_now = false;
    bool expire_now = false;
    bool last = false;
  };

  absl::Status Start();
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);
  Round NextRound() ABSL_LOCKS_EXCLUDED(mutex_);
  void EndRound(const Round& round) ABSL_LOCKS_EXCLUDED(mutex_);
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RetryWhenDue(bool now);
  void ExpireWhenDue(bool now);
  void CountInMemory(const std::vector<ledger_internal::Posting>& postings);
  void Ask(Request& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const LedgerOptions options_;
  const std::unique_ptr<rocksdb::Env> memory_;  // null with a directory
  rocksdb::Env& env_;
  ledger_internal::DatabaseGate gate_;
  std::unique_ptr<ledger_internal::LedgerWriter> writer_;  // the thread's, once it runs
  std::atomic<int64_t> waiting_ = 0;
  std::atomic<bool> failing_ = false;

  // The thread's.
  absl::Duration retry_after_;
  absl::Time next_retry_ = absl::InfiniteFuture();
  absl::Time next_expiry_ = absl::InfinitePast();
  // In memory: when every so-manieth record ended, of the newest that may stay; and from when on they do.
  std::deque<absl::Time> marks_;
  int64_t counted_ = 0;
  absl::Time first_kept_ = absl::InfinitePast();

  Mutex mutex_;
  std::vector<ledger_internal::Posting> queue_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  Request flush_ ABSL_GUARDED_BY(mutex_);
  Request retry_ ABSL_GUARDED_BY(mutex_);
  Request expire_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_LEDGER_LEDGER_H_
