// How the tokens of a step that decodes leave are shared among the sequences that still compute their prompts.
//
// Half goes to the oldest, so that a huge prompt always advances; the other half, and what the oldest does not need, to
// whoever has least left, so that a short suffix after a long cached prefix gets its first token in a step or two,
// however large the prompts beside it. What then remains goes back to the oldest.
//
// Thread-safety: a pure function.

#ifndef HEADSTART_ENGINE_SCHEDULER_PREFILL_SHARE_H_
#define HEADSTART_ENGINE_SCHEDULER_PREFILL_SHARE_H_

#include <cstdint>
#include <span>
#include <vector>

namespace headstart {

// `remaining[i]` > 0 tokens are wanted by the i-th, oldest first. Returns how many each gets, in the same order: the
// sum is the smaller of `budget` and what is wanted in all.
std::vector<int64_t> SharePrefill(std::span<const int64_t> remaining, int64_t budget);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_SCHEDULER_PREFILL_SHARE_H_
