#include "prefix_store/prefix_store.h"

#include <bit>
#include <chrono>
#include <limits>
#include <utility>

#include "fmt/format.h"
#include "prefix_store/prefix_store_core.h"

namespace headstart {
namespace {

constexpr int kSmallestBlock = 8;
constexpr int kLargestBlock = 256;

// Slot indexes are 32 bits wide and the highest one marks the end of the eviction queues.
constexpr int64_t kMaxDeviceBlocks = std::numeric_limits<uint32_t>::max() - 1;

int64_t CapacityOf(const Tier* tier) { return tier == nullptr ? 0 : tier->capacity_blocks(); }

Residence::Policies MakePolicies(const PrefixStoreOptions& options, const PrefixStoreTiers& tiers,
                                 const ReuseModel& reuse) {
  return {MakeEvictionPolicy(options.policy, options.device_blocks, reuse),
          MakeEvictionPolicy(options.policy, CapacityOf(tiers.host), reuse),
          MakeEvictionPolicy(options.policy, CapacityOf(tiers.disk), reuse)};
}

MissReason ReasonOf(Gone why) {
  switch (why) {
    case Gone::kEvicted:
      return MissReason::kEvicted;
    case Gone::kExpired:
      return MissReason::kExpired;
    case Gone::kTierError:
      return MissReason::kTierError;
  }
  return MissReason::kEvicted;
}

Residence::Clock ClockOf(const PrefixStoreOptions& options) {
  if (options.clock) return options.clock;
  return [start = std::chrono::steady_clock::now()] {
    const auto passed = std::chrono::steady_clock::now() - start;
    return AgeMs{std::chrono::duration_cast<std::chrono::milliseconds>(passed).count()};
  };
}

}  // namespace

PrefixStoreCore::PrefixStoreCore(const PrefixStoreOptions& options, const PrefixStoreTiers& tiers)
    : options_(options),
      wall_clock_(options.wall_clock ? options.wall_clock : [] { return absl::Now(); }),
      hasher_(options.hash_bits, options.hash_seed),
      scopes_(hasher_),
      pool_(options.device_blocks, CapacityOf(tiers.host)),
      tree_(options.block_tokens, hasher_, pool_),
      // As many as the device has blocks: a prefix is then known to have been evicted until the device has been filled
      // anew.
      ghosts_(options.device_blocks),
      residence_(pool_, tree_, scopes_, ghosts_, MakePolicies(options, tiers, reuse_), ClockOf(options)),
      tiering_(tiers, options.on_event, wall_clock_, pool_, tree_, scopes_, residence_),
      in_flight_(options.block_tokens, hasher_) {}

void PrefixStoreCore::Poll() {
  ForgetExpired();
  tiering_.Poll();
  if (!loading_.empty()) AdvanceLoads();
  if (!abandoned_.empty()) ReleaseAbandoned();
}

Match PrefixStoreCore::Lookup(const Scope& scope, TokenSpan tokens) const {
  if (tokens.empty()) return {.miss_reason = MissReason::kShorterThanBlock};
  const ScopeId id = scopes_.Find(scope);
  const TreeMatch found = FindMatch(id, tokens);
  const int64_t matched = MatchedTokens(found);
  const int64_t ahead = in_flight_.BlocksAhead(id, tokens, found.at.blocks, tree_.HashAt(found.at));
  const int64_t reachable = std::min<int64_t>(ahead * options_.block_tokens, std::ssize(tokens) - 1);
  return {.matched_tokens = matched,
          .by_tier = ByTier(found),
          .pending_tokens = std::max<int64_t>(0, reachable - matched),
          .miss_reason = WhyNotMore(scope, tokens, found)};
}

// The last token is left out: its logits are wanted, so it is always computed.
TreeMatch PrefixStoreCore::FindMatch(ScopeId scope, TokenSpan tokens) const {
  return WithoutExpired(tree_.Match(scope, tokens.first(tokens.size() - 1)));
}

// Cuts a match where it has expired. Where two branches match, the deeper one was chosen, expired or not: until Poll
// has taken the expired one away, the hit is the shorter for it.
TreeMatch PrefixStoreCore::WithoutExpired(TreeMatch match) const {
  const uint32_t next = residence_.next_expiry();
  if (next == kNever) return match;
  const uint32_t now = SecondOf(wall_clock_());
  if (now < next) return match;
  const auto expired = [&](BlockId block) { return IsExpired(pool_[block], now); };
  const TreePosition end = tree_.EndBefore(expired, match.at);
  const bool whole = end.blocks == match.at.blocks;
  if (whole && !(match.partial && expired(*match.partial))) return match;
  return {.at = end, .expired = true};
}

// As many at a time as take less than a step's own work.
void PrefixStoreCore::ForgetExpired() {
  constexpr int kMostAtATime = 256;
  if (residence_.next_expiry() == kNever) return;
  const uint32_t now = SecondOf(wall_clock_());
  for (int i = 0; i < kMostAtATime; ++i) {
    const auto block = residence_.Due(now);
    if (!block) return;
    tiering_.Forget(*block, Gone::kExpired);
    ++counts_.expired_blocks;
  }
}

MissReason PrefixStoreCore::WhyNotMore(const Scope& scope, TokenSpan tokens, const TreeMatch& match) const {
  if (tokens.size() == 1) return MissReason::kShorterThanBlock;
  const int64_t matched = MatchedTokens(match);
  if (matched == std::ssize(tokens) - 1) return MissReason::kNone;
  if (match.expired) return MissReason::kExpired;
  if (const auto gone = WhyGone(scope, tokens, match)) return ReasonOf(*gone);
  return matched > 0 && match.goes_on ? MissReason::kDiverged : MissReason::kNew;
}

// Asks the memory of what went for the next block as a whole and as a tail of any length.
std::optional<Gone> PrefixStoreCore::WhyGone(const Scope& scope, TokenSpan tokens, const TreeMatch& match) const {
  if (ghosts_.empty()) return std::nullopt;
  const uint64_t before = tree_.HashAt(match.at);
  const TokenSpan rest = tokens.subspan(match.at.blocks * options_.block_tokens);
  const int64_t longest = std::min<int64_t>(std::ssize(rest), options_.block_tokens);
  for (int64_t length = longest; length > match.partial_tokens; --length) {
    const uint64_t hash = hasher_.Chain(before, rest.first(length));
    if (const auto gone = ghosts_.Find(scopes_.Salted(hash, kPublicScope))) return gone;
    if (scope.is_public()) continue;
    if (const auto gone = ghosts_.Find(scopes_.Salted(hash, scope))) return gone;
  }
  return std::nullopt;
}

TokensByTier PrefixStoreCore::ByTier(const TreeMatch& match) const {
  const int64_t block = options_.block_tokens;
  const int64_t device = tree_.BlocksIn(Reach::kDevice, match.at);
  const int64_t memory = tree_.BlocksIn(Reach::kMemory, match.at);
  TokensByTier tokens{
      .device = device * block, .host = (memory - device) * block, .disk = (match.at.blocks - memory) * block};
  if (!match.partial) return tokens;
  const TierKind tier = NearestTier(*match.partial);
  (tier == TierKind::kDevice ? tokens.device
   : tier == TierKind::kHost ? tokens.host
                             : tokens.disk) += match.partial_tokens;
  return tokens;
}

int64_t PrefixStoreCore::Flush() {
  int64_t forgotten = 0;
  residence_.Reset();
  ghosts_.Clear();
  tree_.Clear([&](BlockId block) {
    tiering_.LeftTree(block);
    if (pool_[block].leases == 0) ++forgotten;
    residence_.Uncached(block);
  });
  // What runs now was built on what is being forgotten, so none of it may come back.
  for (SequenceState* sequence : running_) StopPublishing(*sequence);
  tiering_.Flushed();
  return forgotten;
}

int64_t PrefixStoreCore::PurgeTenant(std::string_view tenant) {
  const auto theirs = [&](ScopeId id) {
    const Scope& scope = scopes_.Get(id);
    return !scope.is_public() && scope.tenant() == tenant;
  };
  int64_t forgotten = 0;
  for (const BlockId top : tree_.Tops(theirs)) forgotten += tiering_.Forget(top, std::nullopt);
  for (SequenceState* sequence : running_) {
    if (theirs(sequence->scope.id())) StopPublishing(*sequence);
  }
  tiering_.Purged(tenant);
  return forgotten;
}

PrefixStoreStats PrefixStoreCore::stats() const {
  PrefixStoreStats stats = counts_;
  stats.pool_blocks = pool_.device().size();
  stats.free_blocks = pool_.device().free();
  stats.evictable_blocks = residence_.evictable_device();
  stats.leased_blocks = stats.pool_blocks - stats.free_blocks - stats.evictable_blocks;
  stats.reserved_blocks = reserved_blocks_;
  stats.pinned_blocks = pinned_blocks_;
  stats.cached_tokens = tree_.tokens();
  stats.nodes = tree_.nodes();
  tiering_.AddStats(stats);
  return stats;
}

// --- the facade

absl::Status PrefixStore::Validate(const PrefixStoreOptions& options) {
  const int block = options.block_tokens;
  if (block < kSmallestBlock || block > kLargestBlock || !std::has_single_bit(static_cast<unsigned>(block))) {
    return absl::InvalidArgumentError(fmt::format("block_tokens is {}; it must be a power of two from {} to {}", block,
                                                  kSmallestBlock, kLargestBlock));
  }
  if (options.device_blocks < 1 || options.device_blocks > kMaxDeviceBlocks) {
    return absl::InvalidArgumentError(
        fmt::format("device_blocks is {}; it must be from 1 to {}", options.device_blocks, kMaxDeviceBlocks));
  }
  if (options.pinned_percent < 0 || options.pinned_percent > 100) {
    return absl::InvalidArgumentError(
        fmt::format("pinned_percent is {}; it must be from 0 to 100", options.pinned_percent));
  }
  if (options.hash_bits < 0 || options.hash_bits > 64) {
    return absl::InvalidArgumentError(fmt::format("hash_bits is {}; it must be from 0 to 64", options.hash_bits));
  }
  return absl::OkStatus();
}

PrefixStore::PrefixStore(const PrefixStoreOptions& options, const PrefixStoreTiers& tiers)
    : core_(std::make_unique<PrefixStoreCore>(options, tiers)) {}
PrefixStore::~PrefixStore() = default;

Match PrefixStore::Lookup(const Scope& scope, std::span<const TokenId> tokens) const {
  return core_->Lookup(scope, tokens);
}

absl::StatusOr<SequenceBlocks> PrefixStore::Acquire(const AcquireRequest& request) {
  auto sequence = core_->Acquire(request);
  if (!sequence.ok()) return sequence.status();
  return SequenceBlocks(*std::move(sequence));
}

absl::StatusOr<PinnedPrefix> PrefixStore::Pin(const Scope& scope, std::span<const TokenId> tokens) {
  auto pin = core_->Pin(scope, tokens);
  if (!pin.ok()) return pin.status();
  return PinnedPrefix(*std::move(pin));
}

absl::StatusOr<int64_t> PrefixStore::CheckPin(const Scope& scope, std::span<const TokenId> tokens,
                                              int64_t promised_blocks) const {
  return core_->CheckPin(scope, tokens, promised_blocks);
}

void PrefixStore::Recover() { core_->Recover(); }
void PrefixStore::Poll() { core_->Poll(); }
void PrefixStore::Computed(int64_t tokens, absl::Duration elapsed) { core_->Computed(tokens, elapsed); }
int64_t PrefixStore::StoreAll() { return core_->StoreAll(); }
int64_t PrefixStore::Flush() { return core_->Flush(); }
int64_t PrefixStore::PurgeTenant(std::string_view tenant) { return core_->PurgeTenant(tenant); }
bool PrefixStore::RemovalsPending() const { return core_->RemovalsPending(); }
bool PrefixStore::RemovalsRefused() const { return core_->RemovalsRefused(); }
absl::Time PrefixStore::NextExpiry() const { return core_->NextExpiry(); }
const PrefixStoreOptions& PrefixStore::options() const { return core_->options(); }
PrefixStoreStats PrefixStore::stats() const { return core_->stats(); }
absl::Status PrefixStore::Check() const { return core_->Check(); }

}  // namespace headstart
