// What `headstart cache` prints: registered prefixes and a server's status, for people.
//
// Thread-safety: free functions over values.

#ifndef HEADSTART_GATEWAY_CLI_CACHE_REPORT_H_
#define HEADSTART_GATEWAY_CLI_CACHE_REPORT_H_

#include <string>

#include "absl/time/time.h"
#include "headstart/v1/admin.pb.h"
#include "headstart/v1/prefix.pb.h"

namespace headstart {

// A table with a row for each, or a sentence when there is none. `now` is what expiries are counted from.
std::string FormatPrefixes(const v1::ListPrefixesResponse& prefixes, absl::Time now);

// One prefix, a line for each field.
std::string FormatPrefix(const v1::Prefix& prefix, absl::Time now);

// "in 59m30s", "never".
std::string FormatExpiry(const v1::Prefix& prefix, absl::Time now);

std::string FormatStatus(const v1::GetStatusResponse& status);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_CLI_CACHE_REPORT_H_
