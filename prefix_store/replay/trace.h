// Trace: requests recorded from a service, as the names of the blocks in their prompts.
//
// Two public formats are read, told apart by what the file says:
//   Mooncake: a JSON object a line with timestamp (ms), input_length, output_length and hash_ids, one id for each block
//     of 512 tokens, the last of which may be incomplete. All lines share the ids: equal ids mean an equal prompt up to
//     that block's end.
//   WEKA: one JSON object, a recorded session, with block_size and requests of t (s), in, out and hash_ids, one id for
//     each complete block. Ids mean something within their session only.
//
// Thread-safety: plain values. Errors: INVALID_ARGUMENT naming the line or request, NOT_FOUND for a file that cannot be
// read.
//
//   auto trace = ReadTrace({"conversation_trace.jsonl"});
//   for (const TraceRequest& request : trace->requests) ...

#ifndef HEADSTART_PREFIX_STORE_REPLAY_TRACE_H_
#define HEADSTART_PREFIX_STORE_REPLAY_TRACE_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace headstart {

struct TraceRequest {
  int64_t at_ms = 0;  // since the trace's start
  int64_t input_tokens = 0;
  int64_t output_tokens = 0;
  // The prompt's blocks, by names dense from 0. In traces of complete blocks only, tokens after the last of them have
  // none.
  std::vector<int32_t> blocks;

  // Tokens that its first `count` blocks hold.
  int64_t TokensIn(int64_t count, int64_t block_tokens) const { return std::min(count * block_tokens, input_tokens); }
};

struct Trace {
  int64_t block_tokens = 0;
  std::vector<TraceRequest> requests;  // in order of time
  int32_t distinct_blocks = 0;         // names are below this
};

absl::StatusOr<Trace> ParseMooncakeTrace(std::string_view text);
absl::StatusOr<Trace> ParseWekaSession(std::string_view text);

// Of either format. `text` is a whole file.
absl::StatusOr<Trace> ParseTrace(std::string_view text);

// Several traces as one: each begins at time 0 and shares no block with another.
// INVALID_ARGUMENT when their blocks differ in size, or there are none.
absl::StatusOr<Trace> MergeTraces(std::vector<Trace> traces);

// Reads the files and merges them.
absl::StatusOr<Trace> ReadTrace(std::span<const std::string> paths);

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_REPLAY_TRACE_H_
