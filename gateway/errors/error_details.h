// Errors as callers see them: an absl::Status that carries google.rpc details as payloads, so that every layer of the
// gateway passes one type and the edge alone knows the wire.
//
// Thread-safety: free functions over values.
//
//   return InvalidField("max_tokens", fmt::format("is {}; at least 1 is needed", n));
//   return WithRetryAfter(WithReason(std::move(status), "QUEUE_FULL"), absl::Seconds(1));

#ifndef HEADSTART_GATEWAY_ERRORS_ERROR_DETAILS_H_
#define HEADSTART_GATEWAY_ERRORS_ERROR_DETAILS_H_

#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace headstart {

inline constexpr std::string_view kErrorDomain = "headstart.dev";

// INVALID_ARGUMENT with the message "<field> <description>", BadRequest with that one field, and the reason
// INVALID_FIELD.
absl::Status InvalidField(std::string_view field, std::string_view description);

// The same for what is over one of the server's limits, with the reason LIMIT_EXCEEDED.
absl::Status OverLimit(std::string_view field, std::string_view description);

// `status` with ErrorInfo's reason, in UPPER_SNAKE. Replaces an earlier one; an OK status stays OK.
absl::Status WithReason(absl::Status status, std::string_view reason);

// `status` with BadRequest naming `field` and the status' own message.
absl::Status WithField(absl::Status status, std::string_view field);

// `status` with QuotaFailure naming what is used up, and the status' own message.
absl::Status WithQuota(absl::Status status, std::string_view subject);

// `status` with RetryInfo.
absl::Status WithRetryAfter(absl::Status status, absl::Duration delay);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_ERRORS_ERROR_DETAILS_H_
