// CachedPrefix: a prefix that somebody asked to have computed and kept: warmed, pinned, with a name and an end.
//
// Thread-safety: plain values.

#ifndef HEADSTART_ENGINE_CACHED_PREFIX_H_
#define HEADSTART_ENGINE_CACHED_PREFIX_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "engine/generation.h"
#include "prefix_store/prefix_store.h"
#include "prefix_store/types.h"

namespace headstart {

// What a prefix is to be. The id is the caller's choice and unique in its scope.
struct PrefixSpec {
  std::string id;
  Scope scope = Scope::Public();
  std::vector<TokenId> tokens;
  std::string display_name;
  absl::Time expires = absl::InfiniteFuture();  // wall clock; then the pin ends and the prefix is forgotten
};

// What it is now.
struct CachedPrefix {
  std::string id;
  Scope scope = Scope::Public();
  std::string display_name;
  int64_t tokens = 0;
  absl::Time created;
  absl::Time expires = absl::InfiniteFuture();
  TokensByTier by_tier;  // where its tokens are now; what is missing of them will be computed at the next use
  int64_t pinned_tokens = 0;
};

// What making it took.
struct PrefixWork {
  GenerationUsage usage;
  GenerationTimings timings;  // of a request that generates nothing
};

// What a flush or a purge has really removed.
struct FlushReport {
  int64_t blocks = 0;    // of all tiers, those in use not included: they go when their holders let go
  int64_t prefixes = 0;  // registered ones
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_CACHED_PREFIX_H_
