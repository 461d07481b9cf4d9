// The most hits that any policy could have on a trace: Belady's rule, which knows the future.
//
// After each request the cache keeps those blocks, of what it had and what the request brought, whose next use is
// soonest; one that is never used again is not kept at all. On prefixes this needs no care for the tree: a block's
// ancestors are used whenever it is, so their next use is never later, and of equals the deeper goes first; what is
// kept is always whole prefixes. Blocks found are then leading ones, and no policy, whatever it knows, finds more.
//
// Thread-safety: a pure function. Takes time n log n in the blocks asked for.

#ifndef HEADSTART_PREFIX_STORE_REPLAY_BELADY_H_
#define HEADSTART_PREFIX_STORE_REPLAY_BELADY_H_

#include <cstdint>

#include "prefix_store/replay/trace.h"

namespace headstart {

struct BeladyResult {
  int64_t hit_blocks = 0;
  int64_t hit_tokens = 0;
  double block_hit_ratio = 0;
  double token_hit_ratio = 0;
};

BeladyResult BeladyBound(const Trace& trace, int64_t capacity_blocks);

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_REPLAY_BELADY_H_
