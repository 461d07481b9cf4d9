// LedgerWriter: writes groups of postings, once each and in order, whatever the disk does meanwhile.
//
//   writing ──(a write failed)──▶ failed: closed, and what is posted waits ──(Recover)──▶ writing
//
// Invariants: done is called once for each posting: with `recorded` when it is on the device, without when it begins to
// wait. A group whose write failed may be on the device all the same; once the database is open again the number of its
// last group says so, and only what is not there is written.
//
// Thread-safety: one thread's. Ownership: borrows the gate, the environment and the listener, which outlive it.

#ifndef HEADSTART_GATEWAY_LEDGER_INTERNAL_LEDGER_WRITER_H_
#define HEADSTART_GATEWAY_LEDGER_INTERNAL_LEDGER_WRITER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gateway/ledger/internal/database_gate.h"
#include "gateway/ledger/internal/ledger_directory.h"
#include "gateway/ledger/internal/posting_group.h"

namespace headstart::ledger_internal {

class LedgerWriter {
 public:
  struct Settings {
    rocksdb::Env& env;
    std::string directory;
    IdentifyFile identify;
    std::function<void(const std::string&)> on_event;
    LedgerListener* listener = nullptr;
  };

  LedgerWriter(DatabaseGate& gate, Settings settings) : gate_(gate), settings_(std::move(settings)) {}
  ~LedgerWriter() { gate_.Close(); }  // while the directory is still claimed
  LedgerWriter(const LedgerWriter&) = delete;
  LedgerWriter& operator=(const LedgerWriter&) = delete;

  // Before anything else, and again after a failure: claims the directory unless it is claimed and in place, opens the
  // database and writes what waits. Some of it may have been written when it fails.
  absl::Status Recover();

  void Write(std::vector<Posting> postings);

  // Removes up to `limit` entries that ended before `records_before`, and, once there are no more of them, sums of
  // hours before `hours_before`. True when there may be more to remove.
  bool Expire(absl::Time records_before, absl::Time hours_before, int limit);

  bool failed() const { return gate_.database() == nullptr; }
  int64_t waiting() const;

  // What could not be written, as lines of JSON for the event callback. The writer is done after that.
  void TellWhatIsLost();

 private:
  absl::Status Claim();
  absl::Status Open();
  void Close(const absl::Status& why);
  absl::Status WriteGroup(PostingGroup group);
  absl::Status WriteDeferred();
  void SettleDoubtful();
  void Doubt(PostingGroup group, const absl::Status& why);
  void Defer(std::vector<Posting>& postings);
  void Tell(PostingGroup& group);

  DatabaseGate& gate_;
  const Settings settings_;
  std::unique_ptr<LedgerDirectory> directory_;  // null: not claimed
  bool was_claimed_ = false;                    // ever
  uint64_t last_group_ = 0;
  std::optional<PostingGroup> doubtful_;  // its write failed: on the device or not
  std::deque<Posting> deferred_;          // after it
};

}  // namespace headstart::ledger_internal

#endif  // HEADSTART_GATEWAY_LEDGER_INTERNAL_LEDGER_WRITER_H_
