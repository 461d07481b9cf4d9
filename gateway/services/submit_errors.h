// Errors of the engine and of the worker queue, as callers of the API see them.

#ifndef HEADSTART_GATEWAY_SERVICES_SUBMIT_ERRORS_H_
#define HEADSTART_GATEWAY_SERVICES_SUBMIT_ERRORS_H_

#include "absl/status/status.h"
#include "gateway/errors/error_details.h"

namespace headstart {

// Long enough that a retry is likely to find room, short enough not to be felt: a queue moves several times a second.
inline constexpr absl::Duration kRetryDelay = absl::Seconds(1);

inline absl::Status Unavailable(const absl::Status& status) {
  return WithRetryAfter(WithReason(status, "QUEUE_FULL"), kRetryDelay);
}

inline absl::Status TooBusy() {
  return Unavailable(absl::UnavailableError("too many prompts wait to be tokenized; try again"));
}

inline absl::Status ShuttingDown() {
  return WithRetryAfter(
      WithReason(absl::UnavailableError("the server is stopping; try another one"), "SERVER_STOPPING"), kRetryDelay);
}

// A prompt that is too long is the caller's input being wrong, whatever the engine calls it. What a server that is
// `stopping` has no place for, no later try at the same server will get one for.
inline absl::Status SubmitError(const absl::Status& status, bool stopping) {
  switch (status.code()) {
    case absl::StatusCode::kOutOfRange:
      return WithReason(WithField(absl::InvalidArgumentError(status.message()), "input"), "PROMPT_TOO_LONG");
    case absl::StatusCode::kInvalidArgument:
      return WithReason(status, "INVALID_FIELD");
    case absl::StatusCode::kFailedPrecondition:
      return WithReason(status, "CACHE_TOO_SMALL");
    case absl::StatusCode::kUnavailable:
      return stopping ? ShuttingDown() : Unavailable(status);
    default:
      return status;
  }
}

// Of the calls on registered prefixes.
inline absl::Status PrefixError(const absl::Status& status, bool stopping) {
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
      return WithReason(status, "PREFIX_NOT_FOUND");
    case absl::StatusCode::kAlreadyExists:
      return WithReason(status, "PREFIX_EXISTS");
    case absl::StatusCode::kResourceExhausted:
      return WithReason(WithQuota(status, "pinned share of the cache"), "PINNED_SHARE_EXCEEDED");
    default:
      return SubmitError(status, stopping);
  }
}

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_SUBMIT_ERRORS_H_
