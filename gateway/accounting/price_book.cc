#include "gateway/accounting/price_book.h"

#include <algorithm>
#include <utility>

namespace headstart {

const v1::TokenPrices* PriceVersion::Of(std::string_view model) const {
  auto found = models.find(model);
  if (found == models.end()) found = models.find(kAnyModel);
  return found == models.end() ? nullptr : &found->second;
}

PriceBook::PriceBook(std::string currency, std::vector<PriceVersion> versions)
    : currency_(std::move(currency)), versions_(std::move(versions)) {}

const PriceVersion& PriceBook::At(absl::Time time) const {
  const auto next = std::ranges::upper_bound(versions_, time, {}, &PriceVersion::effective_from);
  return next == versions_.begin() ? versions_.front() : *std::prev(next);
}

}  // namespace headstart
