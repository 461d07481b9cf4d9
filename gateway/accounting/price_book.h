// PriceBook: what tokens cost, and since when. docs/accounting.md describes the file that it is read from.
//
// Thread-safety: immutable once parsed.
//
//   auto prices = WatchedFiles<PriceBook>::Open({path}, PriceBookParser(model), on_news);
//   v1::Charge charge = (*prices)->current()->Charge(model, start, usage);

#ifndef HEADSTART_GATEWAY_ACCOUNTING_PRICE_BOOK_H_
#define HEADSTART_GATEWAY_ACCOUNTING_PRICE_BOOK_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gateway/files/watched_files.h"
#include "headstart/v1/usage_service.pb.h"

namespace headstart {

// The price of every model without one of its own.
inline constexpr std::string_view kAnyModel = "*";

struct PriceVersion {
  std::string name;
  absl::Time effective_from;
  std::map<std::string, v1::TokenPrices, std::less<>> models;

  // Null when the model has no price here.
  const v1::TokenPrices* Of(std::string_view model) const;
};

class PriceBook {
 public:
  // REQUIRES: at least one version, in the order of effective_from, no two of which are equal.
  PriceBook(std::string currency, std::vector<PriceVersion> versions);

  const std::string& currency() const { return currency_; }
  const std::vector<PriceVersion>& versions() const { return versions_; }

  // The version in force at `time`: the last one that began at or before it. Before the first, the first.
  const PriceVersion& At(absl::Time time) const;

 private:
  std::string currency_;
  std::vector<PriceVersion> versions_;
};

// Reads the text of a price book. INVALID_ARGUMENT naming the line and what is taken instead. `served_model` must have
// a price in every version, unless it is empty.
absl::StatusOr<PriceBook> ParsePriceBook(const std::string& text, std::string_view served_model);

using LoadedPrices = WatchedFiles<PriceBook>;
LoadedPrices::Parse PriceBookParser(std::string served_model);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_ACCOUNTING_PRICE_BOOK_H_
