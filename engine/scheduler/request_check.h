// What can be said of a request before any work is done for it: whether it can run at all, and how long it may get.
//
// Thread-safety: pure functions of their arguments.

#ifndef HEADSTART_ENGINE_SCHEDULER_REQUEST_CHECK_H_
#define HEADSTART_ENGINE_SCHEDULER_REQUEST_CHECK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "engine/generation.h"

namespace headstart {

struct RequestLimits {
  int vocab_size = 0;
  int64_t max_context_tokens = 0;  // prompt and answer together
  int block_tokens = 0;
  int64_t pool_blocks = 0;
};

// Every list that a caller sends has a limit: these are several times what any client library sends.
inline constexpr int kMaxStopStrings = 64;
inline constexpr int kMaxStopBytes = 1024;
inline constexpr int kMaxStopTokens = 1024;

// INVALID_ARGUMENT (empty prompt, token out of range, sampling, stop lists), OUT_OF_RANGE (the prompt leaves no room in
// the context for one token), FAILED_PRECONDITION (it needs more blocks than the pool has, with the numbers).
absl::Status CheckRequest(const GenerationRequest& request, const RequestLimits& limits);

// Tokens of prompt and answer at which the request ends for length: max_tokens, clamped to the end of the context.
// REQUIRES: CheckRequest passes.
int64_t LongestLength(const GenerationRequest& request, const RequestLimits& limits);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_SCHEDULER_REQUEST_CHECK_H_
