// A body of any bytes becomes a request that passes or fails its checks, or an error that can be written down.

#include <cstdint>
#include <string_view>

#include "gateway/openai/openai_errors.h"
#include "gateway/openai/openai_request.h"
#include "gateway/services/limits.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using headstart::OpenAiApi;
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  for (const OpenAiApi api : {OpenAiApi::kChatCompletions, OpenAiApi::kCompletions}) {
    const auto request = headstart::ParseOpenAiRequest(api, body, /*max_choices=*/8);
    const absl::Status status =
        request.ok() ? headstart::CheckRequest(request->generate, headstart::RequestLimits{}) : request.status();
    if (!status.ok() && headstart::OpenAiErrorJson(status).empty()) __builtin_trap();
    if (request.ok() && (request->choices < 1 || request->choices > 8)) __builtin_trap();
  }
  return 0;
}
