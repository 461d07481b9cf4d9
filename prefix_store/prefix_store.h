// PrefixStore: the prompt cache. It maps token prefixes to blocks of KV memory, lets sequences share them, and decides
// what to forget. It knows tokens and places for opaque bytes; it knows no model and touches no KV byte itself.
//
// Thread-safety: none. One thread (the scheduler's) owns the store and every SequenceBlocks it handed out.
// Ownership: the store outlives every SequenceBlocks. A SequenceBlocks is one running sequence's hold on memory;
// letting it go returns its blocks, published ones to the cache, unpublished ones to the pool. Errors: Acquire and
// Reserve are all or nothing: when refused, holders, eviction order and counters of blocks are as before.
//
// Invariants (Check() verifies them):
//   1. Every device slot is free, or belongs to exactly one block.
//   2. A block in the tree has the bytes of all tokens the tree shows for it.
//   3. A leased block is never evicted or moved; its ancestors are leased with it.
//      A block's bytes are in a tier at all times; along every path the device's blocks come first, then those in host
//      memory, then those on disk alone.
//   4. A node of a tenant's scope has only nodes of that scope below it.
//   5. free + evictable + leased slots = pool; what is reserved is no more than what is free or evictable.
//
//   PrefixStore store({.block_tokens = 16, .device_blocks = 1024});
//   auto blocks = store.Acquire({.scope = Scope::Tenant("acme"), .tokens = prompt});      // shares what is cached
//   blocks->Take(prompt.size());
//   // copy what blocks->copies() lists, compute the KV of tokens [blocks->cached_tokens(), prompt.size()) ...
//   blocks->Publish(prompt);                                                              // others may now hit

#ifndef HEADSTART_PREFIX_STORE_PREFIX_STORE_H_
#define HEADSTART_PREFIX_STORE_PREFIX_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "prefix_store/eviction/policy.h"
#include "prefix_store/eviction/policy_kind.h"
#include "prefix_store/prefix_store_stats.h"
#include "prefix_store/tier/tier.h"
#include "prefix_store/transfer/io_executor.h"
#include "prefix_store/types.h"

namespace headstart {

// Tokens by the tier that their bytes came from, or lie in.
struct TokensByTier {
  int64_t device = 0;
  int64_t host = 0;
  int64_t disk = 0;
  int64_t sum() const { return device + host + disk; }
  friend bool operator==(const TokensByTier&, const TokensByTier&) = default;
};

struct PrefixStoreOptions {
  // --- behaviour
  int block_tokens = 16;      // tokens a block holds: a power of two, 8 to 256
  int64_t device_blocks = 0;  // slots of device memory; REQUIRED, at least 1
  EvictionPolicyKind policy = EvictionPolicyKind::kHitDensity;
  int pinned_percent = 50;  // of the device's blocks that pins together may hold: 0 to 100

  // Time since any moment in the past; never goes back. Default: the machine's steady clock.
  std::function<AgeMs()> clock = nullptr;

  // The time of day, which decides what has expired. It may go back: then what was to expire is kept for longer.
  // Default: absl::Now.
  std::function<absl::Time()> wall_clock = nullptr;

  // Hears in one sentence of what an operator should know, such as a tier that was turned off. On the scheduler thread.
  std::function<void(const std::string&)> on_event = nullptr;

  // --- for tests: how many low bits of a block's hash are kept. The store is right with any value.
  int hash_bits = 64;

  // Seeds the index's hashes. The service sets it at random, so that no caller can craft prompts whose blocks collide.
  uint64_t hash_seed = 0;
};

// The tiers below the device, and what is needed to reach them. All of it outlives the store. With neither host nor
// disk, what is evicted is forgotten.
struct PrefixStoreTiers {
  Tier* device = nullptr;  // the pages behind the store's slots; REQUIRED with host or disk
  Tier* host = nullptr;    // REQUIRED with disk, which is reached through it
  Tier* disk = nullptr;
  IoExecutor* io = nullptr;                          // REQUIRED with host or disk
  Fingerprint fingerprint = {};                      // of the device's bytes
  std::function<absl::Time()> io_clock = absl::Now;  // read on I/O threads, to see how long transfers take
  // Called from I/O threads when there is something for Poll to do.
  std::function<void()> on_transfer_done = nullptr;
};

// Why a prompt was not covered further. kOtherTenant is for operators alone: callers are told kNew instead.
enum class MissReason {
  kNone,              // all but the last token was cached
  kNew,               // nothing cached goes on from here: what follows was not seen in this scope, or long ago
  kShorterThanBlock,  // one token, which is always computed
  kDiverged,          // shares its beginning with a cached prompt, which goes on differently at token `matched_tokens`
  kEvicted,           // more was cached and has been evicted since
  kExpired,           // more was cached and its time to live has passed
  kCachingOff,        // the request asked not to read the cache
  kTierError,         // more was cached, and the tier that it lies in failed or gave back something else
  kOtherTenant,
};

// What a prompt would find now.
struct Match {
  int64_t matched_tokens = 0;  // cached tokens this prompt would reuse: at most size − 1
  TokensByTier by_tier = {};   // the same, by where they lie now
  int64_t pending_tokens = 0;  // tokens after those that a running sequence of a visible scope is computing now
  MissReason miss_reason = MissReason::kNone;
};

// `tokens` tokens of KV from the start of one slot to the start of another: the shared part of a block in which two
// sequences diverge. To be carried out before the step that computes the rest of the block.
struct BlockCopy {
  SlotIndex from;
  SlotIndex to;
  int tokens;
};

struct AcquireRequest {
  Scope scope = Scope::Public();
  std::span<const TokenId> tokens;  // what will be in the sequence: the prompt, or prompt and answer so far on resume
  bool read_cache = true;           // may reuse cached blocks
  bool write_cache = true;          // may publish; also announces the tokens as pending, for others to wait for
  int64_t reserve_tokens = 0;       // blocks for at least so many tokens in all; 0 means tokens.size()
  int8_t priority = 0;              // what it uses or publishes is kept as the highest of its users asked: −1, 0 or 1

  // What it uses or publishes stays for at least so long after its end, room permitting, and is gone after that unless
  // another user asked for more. A block whose users have all set one is no hit from the second on in which it expires.
  absl::Duration ttl = absl::InfiniteDuration();
};

class PrefixStore;
class PrefixStoreCore;
struct PinState;
struct SequenceState;

// Whether all bytes that an acquisition found are on the device.
enum class LoadState {
  kReady,
  kLoading,  // some are on their way up
  kFailed,   // some did not come: acquire anew, and find less
};

// One running sequence's blocks. Move-only; an empty one holds nothing.
class SequenceBlocks {
 public:
  SequenceBlocks();
  SequenceBlocks(SequenceBlocks&&) noexcept;
  SequenceBlocks& operator=(SequenceBlocks&&) noexcept;
  ~SequenceBlocks();

  // Slots in token order: token t lies in slots()[t / block_tokens]. Those of the cached tokens, and those taken since.
  // Valid until the next call on this object.
  std::span<const SlotIndex> slots() const;

  // Tokens at the start whose KV was cached at Acquire. At most tokens.size() − 1.
  int64_t cached_tokens() const;

  // The same, by the tier that they were in at Acquire.
  TokensByTier cached_by_tier() const;

  // Why it was not more.
  MissReason miss_reason() const;

  // Nothing of the cached tokens may be read until this says kReady. It changes in PrefixStore::Poll alone, and never
  // again once it was kReady.
  LoadState load_state() const;

  // Copies to carry out before computing; empty after CopiesDone(), which also lets the copied blocks go.
  std::span<const BlockCopy> copies() const;
  void CopiesDone();

  // Makes sure of room for `tokens` tokens in all. RESOURCE_EXHAUSTED when leased blocks leave too little. Room is only
  // promised: what is cached in it stays there, and may be hit, until the room is taken.
  absl::Status Reserve(int64_t tokens);

  // Takes slots for the first `tokens` tokens, evicting if need be. To be called as late as the tokens are computed: a
  // long prompt's evictions then come step by step, and lower tiers keep up. REQUIRES: room for them is reserved, as
  // Acquire does for its tokens.
  void Take(int64_t tokens);

  // The KV of `tokens` (the sequence from its start) is complete in memory: make it visible in the sequence's scope.
  // Blocks that another sequence published meanwhile are shared and this one's copies freed, so slots() may change.
  // Returns the number of tokens newly written to the cache. Does nothing when write_cache was false.
  // REQUIRES: tokens extend what was published before; slots for them were taken.
  int64_t Publish(std::span<const TokenId> tokens);

 private:
  friend class PrefixStore;
  explicit SequenceBlocks(std::unique_ptr<SequenceState> state);
  std::unique_ptr<SequenceState> state_;
};

// Keeps a cached prefix on the device. Move-only; an empty one holds nothing. What it holds is neither evicted nor does
// it expire while the pin lives; a flush or a purge takes it out of the cache all the same, and its room is free when
// the pin goes.
class PinnedPrefix {
 public:
  PinnedPrefix();
  PinnedPrefix(PinnedPrefix&&) noexcept;
  PinnedPrefix& operator=(PinnedPrefix&&) noexcept;
  ~PinnedPrefix();

  // Tokens at the start of the prefix that are sure to be found on the device: may be fewer than when it was pinned,
  // after a flush for example. Pin anew then.
  int64_t pinned_tokens() const;

 private:
  friend class PrefixStore;
  explicit PinnedPrefix(std::unique_ptr<PinState> state);
  std::unique_ptr<PinState> state_;
};

class PrefixStore {
 public:
  // REQUIRES: options pass Validate().
  explicit PrefixStore(const PrefixStoreOptions& options, const PrefixStoreTiers& tiers = {});
  ~PrefixStore();
  PrefixStore(const PrefixStore&) = delete;
  PrefixStore& operator=(const PrefixStore&) = delete;

  // INVALID_ARGUMENT naming the option, its value and the limit.
  static absl::Status Validate(const PrefixStoreOptions& options);

  // What `tokens` would find. Changes nothing, not even the order of eviction.
  Match Lookup(const Scope& scope, std::span<const TokenId> tokens) const;

  // Leases the cached part of `request.tokens` and reserves blocks for the rest. A hit block is never the victim of
  // its own acquisition. RESOURCE_EXHAUSTED, with the numbers, when leased blocks leave too little room for now;
  // FAILED_PRECONDITION when the pool could never hold it; INVALID_ARGUMENT for no tokens.
  absl::StatusOr<SequenceBlocks> Acquire(const AcquireRequest& request);

  // Keeps on the device what is cached there of exactly this prefix: its whole blocks, and the block that has all of
  // the rest. NOT_FOUND when nothing of it is there (run it first); RESOURCE_EXHAUSTED, with the numbers, when pins
  // would hold more than their share, or when the rest of the device is promised to running sequences.
  absl::StatusOr<PinnedPrefix> Pin(const Scope& scope, std::span<const TokenId> tokens);

  // The blocks that Pin will take of its share once all of the prefix is computed; what other pins hold of it already
  // takes no more. RESOURCE_EXHAUSTED, with the numbers, when they and `promised_blocks` that others were told of are
  // more than is left.
  absl::StatusOr<int64_t> CheckPin(const Scope& scope, std::span<const TokenId> tokens,
                                   int64_t promised_blocks = 0) const;

  // Brings into the tree what the disk has kept from before and has not expired. To be called before anything else. A
  // disk that cannot be read, or takes no writes, is off (stats().disk_on) until it works: it is no error. What could
  // not be read is brought in by the Poll that finds it working, which then takes as long as this call: some
  // microseconds a block.
  void Recover();

  // Takes back what transfers have done since the last call, begins what is due, and forgets, some at a time, what has
  // expired. Cheap when there is nothing. To be called before each step, when on_transfer_done says so, and at
  // NextExpiry(): what has expired is no hit any more, but takes room until then.
  void Poll();

  // When something expires next; absl::InfiniteFuture() when nothing does.
  absl::Time NextExpiry() const;

  // A step computed so many prompt tokens: what loading is weighed against.
  void Computed(int64_t tokens, absl::Duration elapsed);

  // Begins to write to disk what is not there yet, as far as there is room. Blocks that are still to be written or
  // under way: call it and Poll until there are none, and a restart finds all of them.
  int64_t StoreAll();

  // Forgets every block, in all tiers; returns how many were not leased. Leased ones go when their holders let go: no
  // later lookup finds them, and running sequences publish nothing more. The disk is cleared whole, in a transfer,
  // which works on a full one, too; what is computed meanwhile is stored after it. A flush is not to be acknowledged
  // before RemovalsPending() is false: then none of the blocks can be read again, whatever happens to the process or
  // the machine. One that was interrupted before promised nothing: what it had not removed yet is there again after a
  // restart, until it is flushed anew. What the disk refuses is tried again when it works.
  int64_t Flush();

  // The same for the scopes of one tenant, whose records leave the disk one by one.
  int64_t PurgeTenant(std::string_view tenant);
  bool RemovalsPending() const;

  // Whether they were tried, refused by the disk, and wait until it works.
  bool RemovalsRefused() const;

  const PrefixStoreOptions& options() const;
  PrefixStoreStats stats() const;

  // Verifies every invariant; INTERNAL naming the first broken one. Takes time proportional to all blocks.
  absl::Status Check() const;

 private:
  std::unique_ptr<PrefixStoreCore> core_;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_PREFIX_STORE_H_
