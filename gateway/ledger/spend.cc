#include "gateway/ledger/spend.h"

#include <numeric>

#include "absl/time/civil_time.h"

namespace headstart {

Period PeriodAt(BudgetPeriod kind, absl::Time time) {
  const absl::TimeZone utc = absl::UTCTimeZone();
  if (kind == BudgetPeriod::kDay) {
    const absl::CivilDay day = absl::ToCivilDay(time, utc);
    return {absl::FromCivil(day, utc), absl::FromCivil(day + 1, utc)};
  }
  const absl::CivilMonth month = absl::ToCivilMonth(time, utc);
  return {absl::FromCivil(month, utc), absl::FromCivil(month + 1, utc)};
}

void Spend::Add(const std::string& tenant, const std::string& currency, absl::Time time, int64_t nanos) {
  if (nanos == 0) return;
  MutexLock lock(mutex_);
  Days& days = spent_[{tenant, currency}];
  days[PeriodAt(BudgetPeriod::kDay, time).start] += nanos;
  days.erase(days.begin(), days.lower_bound(PeriodAt(BudgetPeriod::kMonth, days.rbegin()->first).start));
}

int64_t Spend::In(const std::string& tenant, const std::string& currency, const Period& period) const {
  MutexLock lock(mutex_);
  const auto found = spent_.find({tenant, currency});
  if (found == spent_.end()) return 0;
  const auto end = found->second.lower_bound(period.end);
  return std::accumulate(found->second.lower_bound(period.start), end, int64_t{0},
                         [](int64_t sum, const auto& day) { return sum + day.second; });
}

}  // namespace headstart
