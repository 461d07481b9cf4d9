// InFlight: what running sequences are computing now, so that a second request for the same tokens can wait for the
// first instead of computing them again.
//
// Thread-safety: none; the scheduler thread's.
// Ownership: a Claim is its sequence's; it must be withdrawn before it goes, and the table outlives it.

#ifndef HEADSTART_PREFIX_STORE_IN_FLIGHT_H_
#define HEADSTART_PREFIX_STORE_IN_FLIGHT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "prefix_store/block_hash.h"
#include "prefix_store/scope_table.h"

namespace headstart {

class InFlight {
 public:
  // A sequence's promise to publish the blocks [next, end) of its tokens.
  class Claim {
   private:
    friend class InFlight;
    int64_t end() const { return first_ + std::ssize(hashes_); }

    ScopeId scope_{};  // the sequence keeps it in use
    std::vector<TokenId> tokens_;
    std::vector<uint64_t> hashes_;  // of the prefixes that the claimed blocks end, from first_ on
    int64_t first_ = 0;
    int64_t next_ = 0;
  };

  InFlight(int block_tokens, const BlockHasher& hasher) : block_tokens_(block_tokens), hasher_(hasher) {}

  // Claims the whole blocks of `tokens` after the first `cached_blocks`, whose hash is `hash`.
  std::unique_ptr<Claim> Announce(ScopeId scope, TokenSpan tokens, int64_t cached_blocks, uint64_t hash);

  // The claim no longer covers the first `blocks` blocks.
  void Shrink(Claim& claim, int64_t blocks);
  void Withdraw(Claim& claim) { Shrink(claim, claim.end()); }

  // Whole blocks from the start of `tokens` that will be there when the claims that `scope` sees are kept, given that
  // the first `cached_blocks`, whose hash is `hash`, are there already.
  int64_t BlocksAhead(ScopeId scope, TokenSpan tokens, int64_t cached_blocks, uint64_t hash) const;

  // INTERNAL when the index holds anything but the blocks of `claims`.
  absl::Status Check(const std::vector<const Claim*>& claims) const;

 private:
  using Claims = absl::InlinedVector<Claim*, 1>;

  const int block_tokens_;
  const BlockHasher& hasher_;
  absl::flat_hash_map<uint64_t, Claims> index_;  // by the hash of the prefix that a claimed block ends
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_IN_FLIGHT_H_
