// What `headstart usage` prints: tables for people, CSV and JSON for programs. Money is written exactly.
//
// Thread-safety: free functions over values.

#ifndef HEADSTART_GATEWAY_CLI_USAGE_REPORT_H_
#define HEADSTART_GATEWAY_CLI_USAGE_REPORT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "headstart/v1/usage_service.pb.h"

namespace headstart {

// A row for each group and one for each currency's total; a sentence when there is none.
std::string FormatUsage(const v1::ListUsageRequest& request, const v1::ListUsageResponse& usage);

// RFC 4180, with CR LF. prompt_tokens counts cached tokens in, input_tokens leaves them out: token_conventions.h.
std::string UsageCsvHeader();
std::string UsageCsvLine(const v1::UsageEntry& entry);

// One entry as a line of JSON, zeros included.
std::string UsageJsonLine(const v1::UsageEntry& entry);

// A cell of CSV: quoted where RFC 4180 asks for it, and behind an apostrophe where a spreadsheet would take it for a
// formula.
std::string CsvText(std::string_view text);

// "tenant,key,model,label=team,hour,day" into the request. INVALID_ARGUMENT naming the word that is none.
absl::Status ParseDimensions(std::string_view words, v1::ListUsageRequest& request);

// "7d", "12h" or "90m" before `now`; "2026-11-30" is its beginning, in UTC; or a time as in RFC 3339.
absl::StatusOr<absl::Time> ParseWhen(const std::string& text, absl::Time now);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_CLI_USAGE_REPORT_H_
