#include "engine/scheduler/request_check.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "fmt/format.h"

namespace headstart {
namespace {

int64_t PromptTokens(const GenerationRequest& request) { return static_cast<int64_t>(request.prompt.size()); }

absl::Status CheckTokens(std::span<const TokenId> tokens, std::string_view field, int vocab_size) {
  const auto bad =
      std::ranges::find_if(tokens, [&](TokenId token) { return ToIndex(token) < 0 || ToIndex(token) >= vocab_size; });
  if (bad == tokens.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("{}[{}] is {}: the model's tokens are 0 to {}.", field,
                                                bad - tokens.begin(), ToIndex(*bad), vocab_size - 1));
}

absl::Status CheckStops(const GenerationRequest& request, int vocab_size) {
  if (request.stop.size() > kMaxStopStrings) {
    return absl::InvalidArgumentError(
        fmt::format("stop has {} strings: the limit is {}.", request.stop.size(), kMaxStopStrings));
  }
  for (size_t i = 0; i < request.stop.size(); ++i) {
    const size_t bytes = request.stop[i].size();
    if (bytes >= 1 && bytes <= kMaxStopBytes) continue;
    return absl::InvalidArgumentError(
        fmt::format("stop[{}] has {} bytes: a stop string has 1 to {}.", i, bytes, kMaxStopBytes));
  }
  if (request.stop_tokens.size() > kMaxStopTokens) {
    return absl::InvalidArgumentError(
        fmt::format("stop_tokens has {} tokens: the limit is {}.", request.stop_tokens.size(), kMaxStopTokens));
  }
  return CheckTokens(request.stop_tokens, "stop_tokens", vocab_size);
}

absl::Status CheckFits(const GenerationRequest& request, const RequestLimits& limits) {
  if (PromptTokens(request) >= limits.max_context_tokens) {
    return absl::OutOfRangeError(fmt::format(
        "The prompt has {} tokens: the context holds {}, of which at least one is for the answer; shorten the prompt.",
        PromptTokens(request), limits.max_context_tokens));
  }
  // The last token of an answer is never fed back, so it takes no KV memory.
  const int64_t stored = LongestLength(request, limits) - 1;
  const int64_t blocks = (stored + limits.block_tokens - 1) / limits.block_tokens;
  if (blocks <= limits.pool_blocks) return absl::OkStatus();
  return absl::FailedPreconditionError(fmt::format(
      "The request may reach {} tokens of KV, {} blocks of {}: the pool has {} blocks; ask for fewer tokens, or "
      "give the cache more memory.",
      stored, blocks, limits.block_tokens, limits.pool_blocks));
}

}  // namespace

int64_t LongestLength(const GenerationRequest& request, const RequestLimits& limits) {
  const int64_t room = limits.max_context_tokens - PromptTokens(request);
  return PromptTokens(request) + (request.max_tokens == 0 ? room : std::min(request.max_tokens, room));
}

absl::Status CheckRequest(const GenerationRequest& request, const RequestLimits& limits) {
  if (request.prompt.empty()) return absl::InvalidArgumentError("prompt is empty: it needs at least one token.");
  if (request.max_tokens < 0) {
    return absl::InvalidArgumentError(
        fmt::format("max_tokens is {}: it is at least 1, or 0 for up to the end of the context.", request.max_tokens));
  }
  if (absl::Status s = CheckFits(request, limits); !s.ok()) return s;
  if (absl::Status s = CheckTokens(request.prompt, "prompt", limits.vocab_size); !s.ok()) return s;
  if (absl::Status s = CheckStops(request, limits.vocab_size); !s.ok()) return s;
  return ValidateSamplingParams(request.sampling);
}

}  // namespace headstart
