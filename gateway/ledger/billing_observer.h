// BillingObserver: hears what the account has taken in, for metrics: the sums of `added` are the sums of the ledger.
//
// Thread-safety: called on the ledger's thread, one call at a time; must return soon.

#ifndef HEADSTART_GATEWAY_LEDGER_BILLING_OBSERVER_H_
#define HEADSTART_GATEWAY_LEDGER_BILLING_OBSERVER_H_

#include "headstart/v1/usage_service.pb.h"

namespace headstart {

class BillingObserver {
 public:
  virtual ~BillingObserver() = default;
  // `entry` as it is stored, all attempts together; `added` is what the last one changed.
  virtual void OnBilled(const v1::UsageEntry& entry, const v1::UsageTotals& added) = 0;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_LEDGER_BILLING_OBSERVER_H_
