// When cached blocks count as gone: seconds of the wall clock, and the queue of those that have one.
//
// Thread-safety: plain values and pure functions; the queue is the scheduler thread's.

#ifndef HEADSTART_PREFIX_STORE_EXPIRY_H_
#define HEADSTART_PREFIX_STORE_EXPIRY_H_

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>
#include <optional>

#include "absl/container/btree_set.h"
#include "absl/time/time.h"
#include "prefix_store/block.h"
#include "prefix_store/types.h"

namespace headstart {

// As Block::expires keeps it: seconds since 1970, which is enough until 2106.
inline constexpr uint32_t kNever = 0;

// The whole seconds that have begun by `time`. Not before the first one, so that it is never kNever.
inline uint32_t SecondOf(absl::Time time) {
  return static_cast<uint32_t>(std::clamp<int64_t>(absl::ToUnixSeconds(time), 1, std::numeric_limits<uint32_t>::max()));
}

// The first second in which what is kept for `ttl` from `now` on may be gone. A ttl below zero is as good as zero.
inline uint32_t ExpiryAfter(absl::Time now, absl::Duration ttl) {
  const absl::Time end = now + std::max(ttl, absl::ZeroDuration());
  if (end >= absl::FromUnixSeconds(std::numeric_limits<uint32_t>::max())) return kNever;
  const uint32_t second = SecondOf(end);
  return absl::FromUnixSeconds(second) < end ? second + 1 : second;
}

inline uint32_t LaterExpiry(uint32_t a, uint32_t b) { return a == kNever || b == kNever ? kNever : std::max(a, b); }

inline absl::Time TimeOfExpiry(uint32_t expires) {
  return expires == kNever ? absl::InfiniteFuture() : absl::FromUnixSeconds(expires);
}

// What is in use does not expire: its time begins anew when its holder lets go.
inline bool IsExpired(const Block& block, uint32_t now) {
  return block.leases == 0 && block.expires != kNever && block.expires <= now;
}

// Blocks by their expiry; of those with one second the deepest first, so that no block comes before those below it.
class ExpiryQueue {
 public:
  // REQUIRES: the block has an expiry, and keeps it and its depth as long as it is here.
  void Add(BlockId id, const Block& block) { entries_.insert(EntryOf(id, block)); }
  void Remove(BlockId id, const Block& block) { entries_.erase(EntryOf(id, block)); }
  bool Contains(BlockId id, const Block& block) const { return entries_.contains(EntryOf(id, block)); }
  void Clear() { entries_.clear(); }

  // The first second in which something expires, or kNever.
  uint32_t next() const { return entries_.empty() ? kNever : entries_.begin()->expires; }

  std::optional<BlockId> Due(uint32_t now) const {
    if (entries_.empty() || entries_.begin()->expires > now) return std::nullopt;
    return entries_.begin()->block;
  }

  int64_t size() const { return static_cast<int64_t>(entries_.size()); }

 private:
  struct Entry {
    uint32_t expires;
    uint32_t height;  // the deeper, the smaller
    BlockId block;
    friend auto operator<=>(const Entry&, const Entry&) = default;
  };
  static Entry EntryOf(BlockId id, const Block& block) { return {block.expires, ~block.depth, id}; }

  absl::btree_set<Entry> entries_;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_EXPIRY_H_
