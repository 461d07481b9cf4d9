// Requests sent again: what becomes of an entry when the same request comes a second time.
//
// Thread-safety: free functions over values.

#ifndef HEADSTART_GATEWAY_LEDGER_ATTEMPTS_H_
#define HEADSTART_GATEWAY_LEDGER_ATTEMPTS_H_

#include "headstart/v1/usage_service.pb.h"

namespace headstart {

// Joins another attempt to `entry`: each token of its prompt stays as the first attempt that got so far saw
// it, its answer (and what a prefix took of storage) is the longest, at the entry's own prices: so nothing is billed
// twice or not at all, and no bill is ever lowered.
void JoinAttempt(const v1::UsageEntry& attempt, v1::UsageEntry& entry);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_LEDGER_ATTEMPTS_H_
