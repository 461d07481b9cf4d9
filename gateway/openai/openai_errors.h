// Errors of the gateway in the form of the OpenAI API: {"error": {"message", "type", "param", "code"}}.
//
//   status of the gateway                       HTTP  code
//   INVALID_ARGUMENT                            400   context_length_exceeded for PROMPT_TOO_LONG, else the reason
//   FAILED_PRECONDITION, OUT_OF_RANGE           400   the reason
//   UNAUTHENTICATED                             401   invalid_api_key
//   PERMISSION_DENIED                           403   the reason
//   NOT_FOUND                                   404   model_not_found for MODEL_NOT_FOUND, else the reason
//   ALREADY_EXISTS, ABORTED                     409   the reason
//   RESOURCE_EXHAUSTED                          429   insufficient_quota with QuotaFailure, else rate_limit_exceeded
//   CANCELLED                                   499
//   UNAVAILABLE                                 503   the reason
//   DEADLINE_EXCEEDED                           504   the reason
//   anything else                               500   the reason
//
// `param` is the field of BadRequest, as the request's body names it. Retry-After is RetryInfo's, in whole seconds.
//
// Thread-safety: free functions over values.

#ifndef HEADSTART_GATEWAY_OPENAI_OPENAI_ERRORS_H_
#define HEADSTART_GATEWAY_OPENAI_OPENAI_ERRORS_H_

#include <string>

#include "absl/status/status.h"
#include "gateway/http/http_message.h"
#include "gateway/openai/field_names.h"

namespace headstart {

// REQUIRES: not OK.
HttpResponse OpenAiErrorResponse(const absl::Status& status, const FieldNames& names = FieldNames());

// The body alone, for an answer that has begun.
std::string OpenAiErrorJson(const absl::Status& status, const FieldNames& names = FieldNames());

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_OPENAI_OPENAI_ERRORS_H_
