#include "gateway/serving/check_budgets.h"

#include "fmt/format.h"

namespace headstart {

absl::Status CheckBudgets(const KeyTable& keys, const PriceBook* prices) {
  for (const auto& [tenant, budget] : keys.budgets()) {
    if (prices != nullptr && budget.currency == prices->currency()) continue;
    return absl::FailedPreconditionError(
        prices == nullptr
            ? fmt::format("tenant \"{}\" has a budget, and without a price book nothing is ever charged against it; "
                          "name one with --prices, or take the budget out of the file of keys",
                          tenant)
            : fmt::format("tenant \"{}\" has a budget in {}, and the price book charges in {}: nothing is ever charged "
                          "against it; write the budget in {}",
                          tenant, budget.currency, prices->currency(), prices->currency()));
  }
  return absl::OkStatus();
}

}  // namespace headstart
