#include "prefix_store/prefix_store.h"

#include <bit>
#include <chrono>
#include <limits>
#include <utility>

#include "fmt/format.h"
#include "prefix_store/prefix_store_core.h"

namespace headstart {
namespace {

constexpr int kMinBlockTokens = 8;
constexpr int kMaxBlockTokens = 256;

// Slot indexes are 32 bits wide and the highest one marks the end of the eviction queues.
constexpr int64_t kMaxDeviceBlocks = std::numeric_limits<uint32_t>::max() - 1;

AgeMs SteadyNow() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return AgeMs{std::chrono::duration_cast<std::chrono::milliseconds>(since).count()};
}

}  // namespace

PrefixStoreCore::PrefixStoreCore(const PrefixStoreOptions& options)
    : options_(options),
      hasher_(options.hash_bits, options.hash_seed),
      scopes_(hasher_),
      pool_(options.device_blocks),
      tree_(options.block_tokens, hasher_, pool_),
      clock_(options.clock ? options.clock : SteadyNow),
      policy_(MakeEvictionPolicy(options.policy, options.device_blocks, reuse_)),
      // As many as the pool has blocks: a prefix is then known to have been evicted until the pool has been filled
      // anew.
      ghosts_(options.device_blocks),
      leases_(pool_, tree_, *policy_, scopes_, ghosts_, clock_),
      in_flight_(options.block_tokens, hasher_) {}

Match PrefixStoreCore::Lookup(const Scope& scope, TokenSpan tokens) const {
  if (tokens.empty()) return {.miss_reason = MissReason::kShorterThanBlock};
  const ScopeId id = scopes_.Find(scope);
  const TreeMatch found = FindMatch(id, tokens);
  const int64_t matched = MatchedTokens(found);
  const int64_t ahead = in_flight_.BlocksAhead(id, tokens, found.at.blocks, tree_.HashAt(found.at));
  const int64_t reachable = std::min<int64_t>(ahead * options_.block_tokens, std::ssize(tokens) - 1);
  return {.matched_tokens = matched,
          .pending_tokens = std::max<int64_t>(0, reachable - matched),
          .miss_reason = WhyNotMore(scope, tokens, found)};
}

// The last token is left out: its logits are wanted, so it is always computed.
TreeMatch PrefixStoreCore::FindMatch(ScopeId scope, TokenSpan tokens) const {
  return tree_.Match(scope, tokens.first(tokens.size() - 1));
}

MissReason PrefixStoreCore::WhyNotMore(const Scope& scope, TokenSpan tokens, const TreeMatch& match) const {
  if (tokens.size() == 1) return MissReason::kShorterThanBlock;
  const int64_t matched = MatchedTokens(match);
  if (matched == std::ssize(tokens) - 1) return MissReason::kNone;
  if (WasEvicted(scope, tokens, match)) return MissReason::kEvicted;
  return matched > 0 && match.goes_on ? MissReason::kDiverged : MissReason::kNew;
}

// Asks the memory of evictions for the next block as a whole and as a tail of any length.
bool PrefixStoreCore::WasEvicted(const Scope& scope, TokenSpan tokens, const TreeMatch& match) const {
  if (ghosts_.empty()) return false;
  const uint64_t before = tree_.HashAt(match.at);
  const TokenSpan rest = tokens.subspan(match.at.blocks * options_.block_tokens);
  const int64_t longest = std::min<int64_t>(std::ssize(rest), options_.block_tokens);
  for (int64_t length = longest; length > match.partial_tokens; --length) {
    const uint64_t hash = hasher_.Chain(before, rest.first(length));
    if (ghosts_.Contains(scopes_.Salted(hash, kPublicScope))) return true;
    if (!scope.is_public() && ghosts_.Contains(scopes_.Salted(hash, scope))) return true;
  }
  return false;
}

int64_t PrefixStoreCore::Flush() {
  int64_t forgotten = 0;
  policy_->Reset();
  ghosts_.Clear();
  tree_.Clear([&](BlockId block) {
    if (pool_[block].leases > 0) return;
    pool_.Free(block);
    ++forgotten;
  });
  // What runs now was built on what is being forgotten, so none of it may come back.
  for (SequenceState* sequence : running_) {
    sequence->publishes = false;
    if (sequence->claim != nullptr) in_flight_.Withdraw(*std::exchange(sequence->claim, nullptr));
  }
  return forgotten;
}

PrefixStoreStats PrefixStoreCore::stats() const {
  PrefixStoreStats stats = counts_;
  stats.pool_blocks = pool_.size();
  stats.free_blocks = pool_.free_blocks();
  stats.evictable_blocks = policy_->size();
  stats.leased_blocks = stats.pool_blocks - stats.free_blocks - stats.evictable_blocks;
  stats.cached_tokens = tree_.tokens();
  stats.nodes = tree_.nodes();
  stats.evicted_blocks = leases_.evicted_blocks();
  return stats;
}

// --- the facade

absl::Status PrefixStore::Validate(const PrefixStoreOptions& options) {
  const int block = options.block_tokens;
  if (block < kMinBlockTokens || block > kMaxBlockTokens || !std::has_single_bit(static_cast<unsigned>(block))) {
    return absl::InvalidArgumentError(fmt::format("block_tokens is {}; it must be a power of two from {} to {}", block,
                                                  kMinBlockTokens, kMaxBlockTokens));
  }
  if (options.device_blocks < 1 || options.device_blocks > kMaxDeviceBlocks) {
    return absl::InvalidArgumentError(
        fmt::format("device_blocks is {}; it must be from 1 to {}", options.device_blocks, kMaxDeviceBlocks));
  }
  if (options.hash_bits < 0 || options.hash_bits > 64) {
    return absl::InvalidArgumentError(fmt::format("hash_bits is {}; it must be from 0 to 64", options.hash_bits));
  }
  return absl::OkStatus();
}

PrefixStore::PrefixStore(const PrefixStoreOptions& options) : core_(std::make_unique<PrefixStoreCore>(options)) {}
PrefixStore::~PrefixStore() = default;

Match PrefixStore::Lookup(const Scope& scope, std::span<const TokenId> tokens) const {
  return core_->Lookup(scope, tokens);
}

absl::StatusOr<SequenceBlocks> PrefixStore::Acquire(const AcquireRequest& request) {
  auto sequence = core_->Acquire(request);
  if (!sequence.ok()) return sequence.status();
  return SequenceBlocks(*std::move(sequence));
}

int64_t PrefixStore::Flush() { return core_->Flush(); }
const PrefixStoreOptions& PrefixStore::options() const { return core_->options(); }
PrefixStoreStats PrefixStore::stats() const { return core_->stats(); }
absl::Status PrefixStore::Check() const { return core_->Check(); }

}  // namespace headstart
