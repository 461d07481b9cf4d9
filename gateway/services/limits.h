// RequestLimits: how large each part of a request may be. What exceeds a limit is refused before any work is done for
// it.
//
// Thread-safety: plain values and free functions.
// Errors: INVALID_ARGUMENT naming the field, its size and the limit, with BadRequest details.

#ifndef HEADSTART_GATEWAY_SERVICES_LIMITS_H_
#define HEADSTART_GATEWAY_SERVICES_LIMITS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "google/protobuf/repeated_field.h"
#include "headstart/v1/inference.pb.h"

namespace headstart {

struct RequestLimits {
  int64_t max_prompt_bytes = 4 << 20;  // of all text of an input: a context of a million tokens
  int64_t max_prompt_token_ids = 1 << 20;
  int64_t max_messages = 16384;
  int64_t max_tools = 256;
  int64_t max_template_variables = 32;
  int64_t max_stop_strings = 16;
  int64_t max_stop_string_bytes = 256;
  int64_t max_stop_token_ids = 64;
  int64_t max_labels = 16;
  int64_t max_label_bytes = 128;  // of a label's key, and of its value
};

inline constexpr int kMaxRequestIdBytes = 128;
inline constexpr int kMaxTopLogprobs = 20;

absl::Status CheckInput(const v1::Input& input, const RequestLimits& limits);

// Everything of the request, its input included.
absl::Status CheckRequest(const v1::GenerateRequest& request, const RequestLimits& limits);

// Whether an id, that may be empty, is fit for logs and the account.
absl::Status CheckRequestId(const std::string& id);

// Whether the model has a token for each of the ids of `field`.
absl::Status CheckTokenIds(std::string_view field, const google::protobuf::RepeatedField<int32_t>& ids, int vocab_size);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_LIMITS_H_
