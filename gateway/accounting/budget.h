// TenantBudget: how much a tenant may spend in a day or a month of UTC.
//
// Thread-safety: plain values.

#ifndef HEADSTART_GATEWAY_ACCOUNTING_BUDGET_H_
#define HEADSTART_GATEWAY_ACCOUNTING_BUDGET_H_

#include <cstdint>
#include <optional>
#include <string>

namespace headstart {

enum class BudgetPeriod { kDay, kMonth };

struct TenantBudget {
  BudgetPeriod period = BudgetPeriod::kMonth;
  std::string currency = {};               // as in the price book
  std::optional<int64_t> soft_nanos = {};  // from here on answers carry a warning
  std::optional<int64_t> hard_nanos = {};  // from here on requests are refused
  friend bool operator==(const TenantBudget&, const TenantBudget&) = default;
};

// Where budgets come from.
class BudgetSource {
 public:
  virtual ~BudgetSource() = default;

  // nullopt: the tenant may spend without limit. From any thread.
  virtual std::optional<TenantBudget> BudgetOf(const std::string& tenant) const = 0;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_ACCOUNTING_BUDGET_H_
