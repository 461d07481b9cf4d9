// Taking and letting go of a sequence's blocks. An acquisition is planned first, against an unchanged store, and
// carried out only when all of it will succeed.

#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "prefix_store/prefix_store_core.h"

namespace headstart {
namespace {

int64_t& At(TokensByTier& tokens, TierKind tier) {
  switch (tier) {
    case TierKind::kDevice:
      return tokens.device;
    case TierKind::kHost:
      return tokens.host;
    case TierKind::kDisk:
      return tokens.disk;
  }
  return tokens.device;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SequenceState>> PrefixStoreCore::Acquire(const AcquireRequest& request) {
  auto plan = MakePlan(request);
  if (!plan.ok()) return plan.status();
  return CarryOut(*plan, request);
}

absl::StatusOr<PrefixStoreCore::Plan> PrefixStoreCore::MakePlan(const AcquireRequest& request) {
  if (request.tokens.empty()) return absl::InvalidArgumentError("a sequence needs at least one token; it has none");
  const int64_t needed = BlocksFor(std::max<int64_t>(std::ssize(request.tokens), request.reserve_tokens));
  if (needed > pool_.device().size()) {
    return absl::FailedPreconditionError(
        fmt::format("the sequence needs {} blocks of {} tokens and the device has {} in all; shorten it or give the "
                    "device more blocks",
                    needed, options_.block_tokens, pool_.device().size()));
  }
  Plan plan{.match = {.at = tree_.Root()}, .miss_reason = MissReason::kCachingOff};
  if (request.read_cache) {
    plan.match = FindMatch(scopes_.Find(request.scope), request.tokens);
    plan.miss_reason = WhyNotMore(request.scope, request.tokens, plan.match);
  }
  plan.path = tree_.Path(plan.match.at);
  if (tiering_.has_host()) PlanLoads(plan);
  plan.fresh_blocks = needed - std::ssize(plan.path);
  if (const absl::Status status = MakeFit(plan); !status.ok()) return status;
  return plan;
}

// Cuts the match to what is worth bringing up, and lists what of it is not on the device.
void PrefixStoreCore::PlanLoads(Plan& plan) {
  TreeMatch& match = plan.match;
  const int64_t device = tree_.BlocksIn(Reach::kDevice, match.at);
  const int64_t worth = tiering_.WorthLoading(device, tree_.BlocksIn(Reach::kMemory, match.at), match.at.blocks);
  if (worth < match.at.blocks) {
    plan.passed_over_blocks = match.at.blocks - worth;
    plan.miss_reason = WhyPassedOver(plan.path[worth]);
    plan.path.resize(worth);
    match.at = worth == 0 ? tree_.Root() : tree_.After(plan.path.back());
    DropPart(plan);
  }
  plan.loads.assign(plan.path.begin() + device, plan.path.end());
  if (!match.partial || pool_[*match.partial].on_device()) return;
  if (tiering_.WorthLoadingPart(NearestTier(*match.partial), match.partial_tokens)) {
    plan.loads.push_back(*match.partial);
  } else {
    plan.miss_reason = WhyPassedOver(*match.partial);
    DropPart(plan);
  }
}

// What is not worth loading was evicted from where it would have been of use.
MissReason PrefixStoreCore::WhyPassedOver(BlockId block) const {
  return tiering_.Readable(NearestTier(block)) ? MissReason::kEvicted : MissReason::kTierError;
}

void PrefixStoreCore::DropPart(Plan& plan) {
  if (!plan.match.partial) return;
  std::erase(plan.loads, *plan.match.partial);
  plan.match.partial.reset();
  plan.match.partial_tokens = 0;
}

absl::Status PrefixStoreCore::MakeFit(Plan& plan) const {
  const int64_t room = Available() - Unheld(plan.path);
  const int64_t loads = std::ssize(plan.loads);
  // The block to copy from is the last one that could give way, or be given a place. Recomputing less than a block is
  // better than refusing, perhaps for good: a pool may be just as large as the sequence.
  const bool part_is_load = loads > 0 && plan.match.partial == plan.loads.back();
  const int64_t whole_loads = loads - (part_is_load ? 1 : 0);
  if (room < plan.fresh_blocks + whole_loads) {
    return absl::ResourceExhaustedError(
        fmt::format("the sequence needs {} more blocks and {} of {} can be had now; wait until running ones let go",
                    plan.fresh_blocks + whole_loads, room, pool_.device().size()));
  }
  if (plan.match.partial && room - Unheld({*plan.match.partial}) < plan.fresh_blocks + loads) {
    DropPart(plan);
    plan.miss_reason = MissReason::kEvicted;
  }
  return absl::OkStatus();
}

int64_t PrefixStoreCore::Unheld(const std::vector<BlockId>& blocks) const {
  return std::count_if(blocks.begin(), blocks.end(),
                       [&](BlockId block) { return pool_[block].leases == 0 && pool_[block].on_device(); });
}

std::unique_ptr<SequenceState> PrefixStoreCore::CarryOut(const Plan& plan, const AcquireRequest& request) {
  auto sequence = std::make_unique<SequenceState>();
  sequence->store = this;
  sequence->scope = scopes_.Intern(request.scope);
  sequence->publishes = request.write_cache;
  sequence->priority = request.priority;
  sequence->ttl = request.ttl;
  sequence->cached_tokens = sequence->counted_tokens = MatchedTokens(plan.match);
  sequence->miss_reason = plan.miss_reason;
  CountTiers(plan, *sequence);
  const uint64_t hash = tree_.HashAt(plan.match.at);
  HoldPath(plan, *sequence);
  reserved_blocks_ += sequence->reserved_blocks = plan.fresh_blocks + std::ssize(plan.loads);
  sequence->loads = plan.loads;
  StartLoads(*sequence);
  if (LoadStateOf(*sequence) == LoadState::kReady) {
    Ready(*sequence);
  } else {
    sequence->load_state = LoadState::kLoading;
    loading_.push_back(sequence.get());
  }
  if (request.write_cache) {
    sequence->claim = in_flight_.Announce(sequence->scope.id(), request.tokens, plan.match.at.blocks, hash);
  }
  running_.insert(sequence.get());
  ++counts_.acquisitions;
  counts_.recomputed_by_choice_tokens += plan.passed_over_blocks * options_.block_tokens;
  if (request.read_cache) counts_.queried_tokens += std::ssize(request.tokens);
  counts_.hit_tokens += sequence->cached_tokens;
  return sequence;
}

void PrefixStoreCore::CountTiers(const Plan& plan, SequenceState& sequence) const {
  for (const BlockId block : plan.path) At(sequence.by_tier, NearestTier(block)) += options_.block_tokens;
  if (plan.match.partial) At(sequence.by_tier, NearestTier(*plan.match.partial)) += plan.match.partial_tokens;
}

TierKind PrefixStoreCore::NearestTier(BlockId block) const {
  const Block& record = pool_[block];
  if (record.on_device() && !record.loading) return TierKind::kDevice;
  return record.in_host() ? TierKind::kHost : TierKind::kDisk;
}

void PrefixStoreCore::HoldPath(const Plan& plan, SequenceState& sequence) {
  sequence.blocks = plan.path;
  sequence.tree_blocks = sequence.path_blocks = std::ssize(plan.path);
  sequence.copied = plan.match.partial;
  sequence.copied_tokens = static_cast<int>(plan.match.partial_tokens);
  const auto hold = [&](BlockId block) {
    residence_.Lease(block);
    ++pool_[block].hits;
  };
  residence_.Found(plan.path);
  for (const BlockId block : plan.path) hold(block);
  if (sequence.copied) hold(*sequence.copied);
}

// As many as lower tiers can make room for at a time: what is loaded pushes as much out.
void PrefixStoreCore::StartLoads(SequenceState& sequence) {
  std::vector<BlockId> begun;
  const int64_t room = tiering_.LoadRoom();
  while (sequence.loads_begun < sequence.loads.size() && std::ssize(begun) < room) {
    const BlockId block = sequence.loads[sequence.loads_begun++];
    --sequence.reserved_blocks;
    --reserved_blocks_;
    if (pool_[block].on_device() || pool_[block].failed) continue;  // another sequence was first
    MakeDeviceRoom();
    residence_.BeginLoad(block);
    begun.push_back(block);
  }
  if (!begun.empty()) tiering_.Load(begun);
}

LoadState PrefixStoreCore::LoadStateOf(const SequenceState& sequence) const {
  LoadState state = sequence.loads_begun < sequence.loads.size() ? LoadState::kLoading : LoadState::kReady;
  const auto look_at = [&](BlockId block) {
    if (pool_[block].failed) state = LoadState::kFailed;
    if (pool_[block].loading && state == LoadState::kReady) state = LoadState::kLoading;
  };
  // Those found on the device may be on their way there for another sequence.
  std::for_each(sequence.blocks.begin(), sequence.blocks.begin() + sequence.path_blocks, look_at);
  if (sequence.copied) look_at(*sequence.copied);
  return state;
}

// All that was found is on the device: now it can be said where.
void PrefixStoreCore::Ready(SequenceState& sequence) {
  sequence.load_state = LoadState::kReady;
  for (int64_t i = 0; i < sequence.path_blocks; ++i) sequence.slots.push_back(pool_[sequence.blocks[i]].device);
  if (!sequence.copied) return;
  TakeFresh(1, sequence);
  sequence.copies.push_back({pool_[*sequence.copied].device, sequence.slots.back(), sequence.copied_tokens});
  ++counts_.copied_blocks;
}

void PrefixStoreCore::AdvanceLoads() {
  for (SequenceState* sequence : std::exchange(loading_, {})) {
    StartLoads(*sequence);
    const LoadState state = LoadStateOf(*sequence);
    sequence->load_state = state;
    if (state == LoadState::kReady) Ready(*sequence);
    if (state == LoadState::kLoading) loading_.push_back(sequence);
  }
}

void PrefixStoreCore::MakeDeviceRoom() {
  if (residence_.free_device() == 0) tiering_.EvictDevice();
}

void PrefixStoreCore::TakeFresh(int64_t count, SequenceState& sequence) {
  sequence.reserved_blocks -= count;
  reserved_blocks_ -= count;
  for (int64_t i = 0; i < count; ++i) {
    MakeDeviceRoom();
    sequence.blocks.push_back(pool_.Take());
    sequence.slots.push_back(pool_[sequence.blocks.back()].device);
  }
}

absl::Status PrefixStoreCore::Reserve(SequenceState& sequence, int64_t tokens) {
  const int64_t more = BlocksFor(tokens) - std::ssize(sequence.blocks) - sequence.reserved_blocks;
  if (more <= 0) return absl::OkStatus();
  if (more > Available()) {
    return absl::ResourceExhaustedError(
        fmt::format("{} tokens need {} more blocks and {} of {} can be had now; wait until running sequences let go",
                    tokens, more, Available(), pool_.device().size()));
  }
  sequence.reserved_blocks += more;
  reserved_blocks_ += more;
  return absl::OkStatus();
}

void PrefixStoreCore::Take(SequenceState& sequence, int64_t tokens) {
  const int64_t more = BlocksFor(tokens) - std::ssize(sequence.blocks);
  if (more > 0) TakeFresh(more, sequence);
}

void PrefixStoreCore::CopiesDone(SequenceState& sequence) {
  sequence.copies.clear();
  if (!sequence.copied) return;
  const BlockId copied = *std::exchange(sequence.copied, std::nullopt);
  residence_.Keep(copied, ExpiryOf(sequence), sequence.priority);
  residence_.Release(copied);
}

// The clock is asked by those alone who gave a time to live. Never earlier than at the call before, whatever the clock
// does: what came later is given to all blocks before what came earlier.
uint32_t PrefixStoreCore::ExpiryOf(SequenceState& sequence) const {
  if (sequence.ttl == absl::InfiniteDuration()) return kNever;
  return sequence.keep = LaterExpiry(sequence.keep, ExpiryAfter(wall_clock_(), sequence.ttl));
}

// What the policies learn from: which cached prefixes this sequence was made of. One that never got what it found has
// used nothing.
void PrefixStoreCore::RecordUse(const SequenceState& sequence) {
  if (sequence.load_state != LoadState::kReady) return;
  std::vector<SequenceBlock> ended;
  for (const BlockId block : sequence.blocks) {
    const Block& record = pool_[block];
    if (!record.cached()) break;
    ended.push_back({scopes_.Salted(record.prefix_hash, record.node->scope.id()), record.hits});
  }
  if (ended.empty()) return;
  const LastUse use = reuse_.SequenceEnds(residence_.now(), ended);
  for (size_t i = 0; i < ended.size(); ++i) pool_[sequence.blocks[i]].last_use = use;
}

void PrefixStoreCore::Release(SequenceState& sequence) {
  if (sequence.claim != nullptr) in_flight_.Withdraw(*sequence.claim);
  running_.erase(&sequence);
  std::erase(loading_, &sequence);
  reserved_blocks_ -= std::exchange(sequence.reserved_blocks, 0);
  if (sequence.load_state != LoadState::kReady && IsLoading(sequence)) Abandon(sequence);
  CopiesDone(sequence);
  if (sequence.tree_blocks > 0) SettleLast(sequence);
  RecordUse(sequence);
  const uint32_t keep = ExpiryOf(sequence);
  for (auto block = sequence.blocks.rbegin(); block != sequence.blocks.rend(); ++block) {
    residence_.Keep(*block, keep, sequence.priority);
    residence_.Release(*block);
  }
}

// What is left to do at the end of a path: memory that it held to grow, and the hits that it has found.
void PrefixStoreCore::SettleLast(const SequenceState& sequence) {
  const BlockId last = sequence.blocks[sequence.tree_blocks - 1];
  if (sequence.publishes && pool_[last].cached()) tree_.Trim(last);
  // Blocks deeper on a path were never found more often, and a block takes those before it along.
  const auto often = std::partition_point(sequence.blocks.begin(), sequence.blocks.begin() + sequence.tree_blocks,
                                          [&](BlockId block) { return tiering_.IsFoundOften(pool_[block]); });
  if (often != sequence.blocks.begin()) tiering_.WriteThrough(*std::prev(often));
}

bool PrefixStoreCore::IsLoading(const SequenceState& sequence) const {
  const auto loading = [&](BlockId block) { return pool_[block].loading; };
  return std::any_of(sequence.blocks.begin(), sequence.blocks.begin() + sequence.path_blocks, loading) ||
         (sequence.copied && loading(*sequence.copied));
}

// The path of a sequence that goes while its blocks are on their way up stays held until they have come: a transfer
// must find its slots as it left them, and a block being loaded must not hang below one that may be evicted.
void PrefixStoreCore::Abandon(SequenceState& sequence) {
  auto rest = std::make_unique<SequenceState>();
  rest->store = this;
  rest->priority = sequence.priority;
  rest->ttl = sequence.ttl;
  rest->keep = sequence.keep;
  rest->path_blocks = rest->tree_blocks = std::exchange(sequence.path_blocks, 0);
  rest->copied = std::exchange(sequence.copied, std::nullopt);
  const auto end = sequence.blocks.begin() + rest->path_blocks;
  rest->blocks.assign(sequence.blocks.begin(), end);
  rest->load_state = LoadState::kLoading;
  sequence.blocks.erase(sequence.blocks.begin(), end);
  sequence.tree_blocks = 0;
  running_.insert(rest.get());
  abandoned_.push_back(std::move(rest));
}

void PrefixStoreCore::ReleaseAbandoned() {
  std::vector<std::unique_ptr<SequenceState>> still;
  for (auto& sequence : std::exchange(abandoned_, {})) {
    if (IsLoading(*sequence)) {
      still.push_back(std::move(sequence));
    } else {
      Release(*sequence);
    }
  }
  abandoned_ = std::move(still);
}

}  // namespace headstart
