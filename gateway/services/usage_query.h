// Usage for people who pay: a ledger's hours, grouped and paged as a request asks for.
//
// Thread-safety: free functions; ListUsage reads from disk.
// Errors: INVALID_ARGUMENT naming the field, with BadRequest details; RESOURCE_EXHAUSTED when there are too many groups
// to sum at once; the ledger's own.

#ifndef HEADSTART_GATEWAY_SERVICES_USAGE_QUERY_H_
#define HEADSTART_GATEWAY_SERVICES_USAGE_QUERY_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gateway/ledger/ledger.h"
#include "headstart/v1/usage_service.pb.h"

namespace headstart {

// From `start` on and before `end`; unset ends are the ends of time.
struct TimeRange {
  absl::Time start;
  absl::Time end;
};
absl::StatusOr<TimeRange> ParseRange(const google::protobuf::Timestamp* start, const google::protobuf::Timestamp* end);

absl::Status CheckUsageRequest(const v1::ListUsageRequest& request);

// The page that `request` asks for. Its tenant is the only one to be seen, unless it is empty. A page begins after the
// last group of the page before, so that what is posted meanwhile neither repeats nor hides a group.
absl::StatusOr<v1::ListUsageResponse> ListUsage(const Ledger& ledger, const v1::ListUsageRequest& request);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_USAGE_QUERY_H_
