// Hashes of blocks and of chains of blocks. They are indexes and never proofs: everything found by one is confirmed by
// comparing tokens, so the store is right with any number of bits, also none.
//
// Thread-safety: immutable.

#ifndef HEADSTART_PREFIX_STORE_BLOCK_HASH_H_
#define HEADSTART_PREFIX_STORE_BLOCK_HASH_H_

#include <cstdint>
#include <string_view>

#include "prefix_store/token_compare.h"
#include "xxhash.h"

namespace headstart {

class BlockHasher {
 public:
  // Keeps the low `bits` (0 to 64) of every combined hash. A `seed` that callers cannot know keeps them from crafting
  // prompts whose blocks all collide, which would be slow, though never wrong.
  explicit BlockHasher(int bits, uint64_t seed)
      : mask_(bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1), seed_(seed) {}

  uint64_t Tokens(TokenSpan tokens) const { return XXH3_64bits_withSeed(tokens.data(), tokens.size_bytes(), seed_); }

  uint64_t Text(std::string_view text) const { return XXH3_64bits_withSeed(text.data(), text.size(), seed_); }

  // Depends on the order of its arguments.
  uint64_t Combine(uint64_t first, uint64_t second) const {
    return XXH3_64bits_withSeed(&second, sizeof(second), first) & mask_;
  }

  // The hash of a prefix that `block` ends, from the hash of what lies before it (0 for nothing).
  uint64_t Chain(uint64_t before, TokenSpan block) const { return Combine(before, Tokens(block)); }

 private:
  uint64_t mask_;
  uint64_t seed_;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_BLOCK_HASH_H_
