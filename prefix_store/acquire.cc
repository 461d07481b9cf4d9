// Taking and letting go of a sequence's blocks. An acquisition is planned first, against an unchanged store, and
// carried out only when all of it will succeed.

#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "prefix_store/prefix_store_core.h"

namespace headstart {

absl::StatusOr<std::unique_ptr<SequenceState>> PrefixStoreCore::Acquire(const AcquireRequest& request) {
  auto plan = MakePlan(request);
  if (!plan.ok()) return plan.status();
  return CarryOut(*plan, request);
}

absl::StatusOr<PrefixStoreCore::Plan> PrefixStoreCore::MakePlan(const AcquireRequest& request) const {
  if (request.tokens.empty()) return absl::InvalidArgumentError("a sequence needs at least one token; it has none");
  const int64_t needed = BlocksFor(std::max<int64_t>(std::ssize(request.tokens), request.reserve_tokens));
  if (needed > pool_.size()) {
    return absl::FailedPreconditionError(
        fmt::format("the sequence needs {} blocks of {} tokens and the device has {} in all; shorten it or give the "
                    "device more blocks",
                    needed, options_.block_tokens, pool_.size()));
  }
  Plan plan{.match = {.at = tree_.Root()}, .miss_reason = MissReason::kCachingOff};
  if (request.read_cache) {
    plan.match = FindMatch(scopes_.Find(request.scope), request.tokens);
    plan.miss_reason = WhyNotMore(request.scope, request.tokens, plan.match);
  }
  plan.path = tree_.Path(plan.match.at);
  plan.fresh_blocks = needed - std::ssize(plan.path);
  if (const absl::Status status = MakeFit(plan); !status.ok()) return status;
  return plan;
}

absl::Status PrefixStoreCore::MakeFit(Plan& plan) const {
  const int64_t room = leases_.available() - Unheld(plan.path);
  if (room < plan.fresh_blocks) {
    return absl::ResourceExhaustedError(
        fmt::format("the sequence needs {} more blocks and {} of {} can be had now; wait until running ones let go",
                    plan.fresh_blocks, room, pool_.size()));
  }
  // The block to copy from is the last one that could give way. Recomputing less than a block is better than refusing,
  // perhaps for good: a pool may be just as large as the sequence.
  if (plan.match.partial && room - Unheld({*plan.match.partial}) < plan.fresh_blocks) {
    plan.match.partial.reset();
    plan.match.partial_tokens = 0;
    plan.miss_reason = MissReason::kEvicted;
  }
  return absl::OkStatus();
}

int64_t PrefixStoreCore::Unheld(const std::vector<BlockId>& blocks) const {
  return std::count_if(blocks.begin(), blocks.end(), [&](BlockId block) { return pool_[block].leases == 0; });
}

std::unique_ptr<SequenceState> PrefixStoreCore::CarryOut(const Plan& plan, const AcquireRequest& request) {
  now_ = Tick{ToIndex(now_) + 1};
  auto sequence = std::make_unique<SequenceState>();
  sequence->store = this;
  sequence->scope = scopes_.Intern(request.scope);
  sequence->publishes = request.write_cache;
  sequence->cached_tokens = sequence->counted_tokens = MatchedTokens(plan.match);
  sequence->miss_reason = plan.miss_reason;
  const uint64_t hash = tree_.HashAt(plan.match.at);
  HoldPath(plan, *sequence);
  HoldCopySource(plan, *sequence);
  TakeFresh(plan.fresh_blocks, *sequence);
  if (sequence->copied) {
    const int tokens = static_cast<int>(plan.match.partial_tokens);
    sequence->copies.push_back({pool_[*sequence->copied].slot, sequence->slots[plan.match.at.blocks], tokens});
    ++counts_.copied_blocks;
  }
  if (request.write_cache) {
    sequence->claim = in_flight_.Announce(sequence->scope.id(), request.tokens, plan.match.at.blocks, hash);
  }
  running_.insert(sequence.get());
  ++counts_.acquisitions;
  if (request.read_cache) counts_.queried_tokens += std::ssize(request.tokens);
  counts_.hit_tokens += sequence->cached_tokens;
  return sequence;
}

void PrefixStoreCore::HoldPath(const Plan& plan, SequenceState& sequence) {
  sequence.blocks = plan.path;
  sequence.tree_blocks = std::ssize(plan.path);
  for (const BlockId block : plan.path) {
    leases_.Lease(block);
    ++pool_[block].hits;
    sequence.slots.push_back(pool_[block].slot);
  }
}

void PrefixStoreCore::HoldCopySource(const Plan& plan, SequenceState& sequence) {
  if (!plan.match.partial) return;
  sequence.copied = plan.match.partial;
  leases_.Lease(*sequence.copied);
  ++pool_[*sequence.copied].hits;
}

void PrefixStoreCore::TakeFresh(int64_t count, SequenceState& sequence) {
  leases_.Take(count, sequence.blocks);
  for (size_t i = sequence.slots.size(); i < sequence.blocks.size(); ++i) {
    sequence.slots.push_back(pool_[sequence.blocks[i]].slot);
  }
}

absl::Status PrefixStoreCore::Reserve(SequenceState& sequence, int64_t tokens) {
  const int64_t more = BlocksFor(tokens) - std::ssize(sequence.blocks);
  if (more <= 0) return absl::OkStatus();
  if (more > leases_.available()) {
    return absl::ResourceExhaustedError(
        fmt::format("{} tokens need {} more blocks and {} of {} can be had now; wait until running sequences let go",
                    tokens, more, leases_.available(), pool_.size()));
  }
  TakeFresh(more, sequence);
  return absl::OkStatus();
}

void PrefixStoreCore::CopiesDone(SequenceState& sequence) {
  sequence.copies.clear();
  if (sequence.copied) leases_.Release(*std::exchange(sequence.copied, std::nullopt));
}

void PrefixStoreCore::Release(SequenceState& sequence) {
  if (sequence.claim != nullptr) in_flight_.Withdraw(*sequence.claim);
  CopiesDone(sequence);
  if (sequence.tree_blocks > 0 && sequence.publishes) tree_.Trim(sequence.blocks[sequence.tree_blocks - 1]);
  RecordUse(sequence);
  for (auto block = sequence.blocks.rbegin(); block != sequence.blocks.rend(); ++block) leases_.Release(*block);
  running_.erase(&sequence);
}

void PrefixStoreCore::RecordUse(const SequenceState& sequence) {
  std::vector<SequenceBlock> ended;
  for (const BlockId block : sequence.blocks) {
    const Block& record = pool_[block];
    if (!record.cached()) break;
    ended.push_back({scopes_.Salted(record.prefix_hash, record.node->scope.id()), record.hits});
  }
  if (ended.empty()) return;
  const LastUse use = reuse_.SequenceEnds(clock_(), ended);
  for (size_t i = 0; i < ended.size(); ++i) pool_[sequence.blocks[i]].last_use = use;
}

}  // namespace headstart
