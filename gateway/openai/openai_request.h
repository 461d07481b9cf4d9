// OpenAiRequest: a request of the OpenAI API as the gateway's own, and what its answer has to look like.
//
// Thread-safety: plain values and free functions.
// Errors: INVALID_ARGUMENT naming the field, as OpenAI names it: for JSON that is none, fields of a wrong type, and
// what this server does not do. What fields say is otherwise checked by CheckGenerate. Fields that are not known are
// passed over, as OpenAI does.

#ifndef HEADSTART_GATEWAY_OPENAI_OPENAI_REQUEST_H_
#define HEADSTART_GATEWAY_OPENAI_OPENAI_REQUEST_H_

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "gateway/openai/field_names.h"
#include "headstart/v1/inference.pb.h"

namespace headstart {

enum class OpenAiApi { kChatCompletions, kCompletions };

struct OpenAiRequest {
  OpenAiApi api = OpenAiApi::kChatCompletions;
  v1::GenerateRequest generate;
  int choices = 1;  // n
  bool stream = false;
  bool include_usage = false;                // with stream
  bool parallel_tool_calls = true;           // otherwise the answer's first call is its last
  std::set<std::string, std::less<>> tools;  // that the model may call
  FieldNames names;                          // of the fields of `generate`, for what is wrong with them
};

// `max_choices` is the most that n may be.
absl::StatusOr<OpenAiRequest> ParseOpenAiRequest(OpenAiApi api, std::string_view body, int max_choices);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_OPENAI_OPENAI_REQUEST_H_
