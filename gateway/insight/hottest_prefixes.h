// Which beginnings recent prompts share most.
//
// Thread-safety: a pure function. It takes time with the tokens of all prompts.

#ifndef HEADSTART_GATEWAY_INSIGHT_HOTTEST_PREFIXES_H_
#define HEADSTART_GATEWAY_INSIGHT_HOTTEST_PREFIXES_H_

#include <cstdint>
#include <vector>

#include "gateway/insight/prompt_history.h"
#include "prefix_store/types.h"

namespace headstart {

struct HotPrefix {
  int64_t requests = 0;  // that begin with it
  int64_t tokens = 0;    // its length
  std::vector<TokenId> beginning;
};

// At most `count`, those first whose repetition is worth most: (requests − 1) × tokens. Of prefixes that continue each
// other only the one worth most is listed. `prompts` are one tenant's.
std::vector<HotPrefix> HottestPrefixes(const RememberedPrompts& prompts, int count);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_INSIGHT_HOTTEST_PREFIXES_H_
