// Spend: what each tenant has spent on each day of late, for budgets.
//
// Thread-safety: every method may be called from any thread.

#ifndef HEADSTART_GATEWAY_LEDGER_SPEND_H_
#define HEADSTART_GATEWAY_LEDGER_SPEND_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "engine/mutex.h"
#include "gateway/accounting/budget.h"

namespace headstart {

// A day or a month of UTC.
struct Period {
  absl::Time start;
  absl::Time end;
};

Period PeriodAt(BudgetPeriod kind, absl::Time time);

class Spend {
 public:
  // `nanos` may be below 0: what was added before turned out to be less. Days before the month of the latest one are
  // forgotten.
  void Add(const std::string& tenant, const std::string& currency, absl::Time time, int64_t nanos)
      ABSL_LOCKS_EXCLUDED(mutex_);

  int64_t In(const std::string& tenant, const std::string& currency, const Period& period) const
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  using Days = std::map<absl::Time, int64_t>;  // by the day's beginning

  mutable Mutex mutex_;
  std::map<std::pair<std::string, std::string>, Days> spent_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_LEDGER_SPEND_H_
