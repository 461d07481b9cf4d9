// Why recent prompts missed: grouped by the place at which they left the way of earlier prompts, or by reason where
// there is no such place. A prompt that left it, and whose beginning had been evicted, is in two groups: with what it
// shares in the one, with the rest in the other.
//
// Thread-safety: a pure function. It takes time with the tokens of all prompts: not for gRPC's threads.

#ifndef HEADSTART_GATEWAY_INSIGHT_MISS_EXPLAINER_H_
#define HEADSTART_GATEWAY_INSIGHT_MISS_EXPLAINER_H_

#include <cstdint>
#include <vector>

#include "gateway/insight/prompt_history.h"
#include "prefix_store/prefix_store.h"
#include "prefix_store/types.h"

namespace headstart {

// One way of going on after a place, and how many prompts took it.
struct WayOn {
  std::vector<TokenId> tokens;  // its beginning
  int64_t prompts = 0;
};

struct MissGroup {
  MissReason reason = MissReason::kNone;
  int64_t requests = 0;
  int64_t computed_tokens = 0;  // of these requests, from the place on

  // --- of kDiverged alone
  int64_t token = 0;             // the first that differs
  int64_t earlier_requests = 0;  // that went on differently there, when the last of these came
  std::vector<TokenId> before;   // the end of what is common
  std::vector<WayOn> ways;       // the most taken first

  // What these requests would have found if what differs stood behind what is the same again after it.
  int64_t saved_by_moving_tokens = 0;
};

// The groups that computed most, at most `max_groups`. `prompts` are one tenant's, oldest first.
std::vector<MissGroup> ExplainMisses(const RememberedPrompts& prompts, int max_groups);

// Where `a` and `b`, which differ in their first token, are the same again: how many tokens from the earliest such
// place on. 0 unless at least kSameAgain tokens are, within kLookAhead tokens of both.
inline constexpr int kSameAgain = 16;  // a block's worth: fewer would be chance, or not worth a move
inline constexpr int kLookAhead = 128;
int64_t TokensSameAgain(std::span<const TokenId> a, std::span<const TokenId> b);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_INSIGHT_MISS_EXPLAINER_H_
