// LedgerListener: hears of every entry, for budgets and metrics.
//
// Thread-safety: called from the ledger's thread, one call at a time; must return soon and must not call the ledger.

#ifndef HEADSTART_GATEWAY_LEDGER_LEDGER_LISTENER_H_
#define HEADSTART_GATEWAY_LEDGER_LEDGER_LISTENER_H_

#include "headstart/v1/usage_service.pb.h"

namespace headstart {

// What became of one posting.
struct StoredEntry {
  v1::UsageEntry entry;   // as it is stored: of all attempts together
  v1::UsageTotals added;  // what this posting added to the sums
  bool repeated = false;  // there was an entry before
};

class LedgerListener {
 public:
  virtual ~LedgerListener() = default;
  // The disk refused the entry; it is kept in memory, and OnStored will come.
  virtual void OnDeferred(const v1::UsageEntry& posted) = 0;
  // It is on disk. `posted` is what was posted; `deferred` says that OnDeferred came before.
  virtual void OnStored(const v1::UsageEntry& posted, const StoredEntry& stored, bool deferred) = 0;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_LEDGER_LEDGER_LISTENER_H_
