// UsageHour: whose sums one rollup holds: an hour of one tenant's key, model and labels, in one currency.
//
// Thread-safety: plain values.

#ifndef HEADSTART_GATEWAY_LEDGER_USAGE_HOUR_H_
#define HEADSTART_GATEWAY_LEDGER_USAGE_HOUR_H_

#include <map>
#include <string>

#include "absl/time/time.h"

namespace headstart {

struct UsageHour {
  absl::Time start;  // a whole hour of UTC
  std::string currency;
  std::string tenant;
  std::string key_id;
  std::string model;
  std::map<std::string, std::string> labels;
  friend bool operator==(const UsageHour&, const UsageHour&) = default;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_LEDGER_USAGE_HOUR_H_
