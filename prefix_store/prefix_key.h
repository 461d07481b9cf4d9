// PrefixKey: the name of a cached block outside this process: a 128-bit digest chained over the block's whole prefix.
//
//   key(block) = XXH3-128( parent key ‖ scope digest ‖ tokens, little-endian )      the root's key: the fingerprint
//   scope digest = XXH3-128( kind ‖ length ‖ tenant ‖ length ‖ partition )           fields are length-prefixed
//
// It is an index and never a proof: whoever finds a record by its key compares scope, parent and tokens.
//
// Thread-safety: plain values and pure functions. The result is the same on every machine: it is part of the disk
// format (docs/formats/disk.md).

#ifndef HEADSTART_PREFIX_STORE_PREFIX_KEY_H_
#define HEADSTART_PREFIX_STORE_PREFIX_KEY_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "prefix_store/token_compare.h"
#include "prefix_store/types.h"

namespace headstart {

struct PrefixKey {
  uint64_t high = 0;
  uint64_t low = 0;
  friend bool operator==(const PrefixKey&, const PrefixKey&) = default;
  friend auto operator<=>(const PrefixKey&, const PrefixKey&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const PrefixKey& key) {
    return H::combine(std::move(state), key.high, key.low);
  }
};

// Of a scope's fields; the same for equal scopes alone.
struct ScopeDigest {
  uint64_t high = 0;
  uint64_t low = 0;
};

ScopeDigest DigestOf(const Scope& scope);

// The key of the empty prefix.
inline PrefixKey RootKey(const Fingerprint& fingerprint) { return {fingerprint.high, fingerprint.low}; }

// The most tokens that a block can have.
inline constexpr size_t kMaxBlockTokens = 256;

// The key of the prefix that `tokens`, a block or the part of one, end. REQUIRES: at most kMaxBlockTokens tokens.
PrefixKey ChainKey(const PrefixKey& parent, const ScopeDigest& scope, TokenSpan tokens);

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_PREFIX_KEY_H_
