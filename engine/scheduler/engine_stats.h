// EngineStats: the scheduler's counts since the start and its levels now. A plain value, taken between steps.

#ifndef HEADSTART_ENGINE_SCHEDULER_ENGINE_STATS_H_
#define HEADSTART_ENGINE_SCHEDULER_ENGINE_STATS_H_

#include <cstdint>

#include "prefix_store/prefix_store.h"

namespace headstart {

struct EngineStats {
  PrefixStoreStats store;
  int64_t running = 0;
  int64_t waiting = 0;
  int64_t waiting_for_prefix = 0;  // of those waiting: another request is computing what they share
  int64_t finished = 0;
  int64_t preemptions = 0;
  int64_t queried_tokens = 0;  // of prompts whose requests read the cache: each token once
  int64_t hit_tokens = 0;      // of those, found; not what a preempted request finds again
  int64_t steps = 0;
  int64_t prompt_tokens_computed = 0;  // recomputed ones not included
  int64_t completion_tokens = 0;
  int64_t recomputed_tokens = 0;  // computed again after preemption
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_SCHEDULER_ENGINE_STATS_H_
