// BlockMeta: what is known of a block beside its bytes, kept with it where the process's memory does not reach, so that
// the prefix tree can be built again.
//
// Thread-safety: plain values.

#ifndef HEADSTART_PREFIX_STORE_TIER_BLOCK_META_H_
#define HEADSTART_PREFIX_STORE_TIER_BLOCK_META_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "prefix_store/prefix_key.h"
#include "prefix_store/types.h"

namespace headstart {

struct BlockMeta {
  PrefixKey parent;  // the key of the prefix before it
  Scope scope = Scope::Public();
  std::vector<TokenId> tokens;  // its own: a block, or fewer in the last block of a sequence
  uint32_t depth = 0;           // blocks before it
  uint32_t hits = 0;            // acquisitions that had found it when it was written
  int8_t priority = 0;
  absl::Time expires = absl::InfiniteFuture();  // wall clock, whole seconds

  friend bool operator==(const BlockMeta&, const BlockMeta&) = default;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_TIER_BLOCK_META_H_
