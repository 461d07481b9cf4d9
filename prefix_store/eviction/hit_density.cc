#include "prefix_store/eviction/hit_density.h"

#include <algorithm>
#include <bit>

namespace headstart {
namespace {

constexpr double kPriorityWeight = 64;

// How many of the blocks set aside are asked after in each call. Blocks are set aside at most once for each time that
// they are tracked or asked after, so two a call keep up with one eviction a call.
constexpr int64_t kTriesPerCall = 2;

// Batches that one call moves to older buckets: a tenth of a millisecond's work.
constexpr int64_t kMovesPerCall = 4096;

constexpr int kBitsPerWord = 64;
int Words(int bits) { return (bits + kBitsPerWord - 1) / kBitsPerWord; }

int PriorityIndex(int8_t priority) { return std::clamp<int>(priority, -1, 1) + 1; }

}  // namespace

HitDensityPolicy::HitDensityPolicy(const ReuseModel& model)
    : model_(model),
      cells_(model.classes() * kAgeBuckets),
      blocks_(kSetAside + 1),
      batches_(kPriorities * cells_),
      last_use_(kSetAside + 1),
      rank_(cells_),
      occupied_(kPriorities * Words(cells_)) {
  FollowModel();
}

void HitDensityPolicy::Track(BlockId block, const BlockFacts& facts) {
  Advance(facts.last_use.at);
  blocks_.PushNewest(static_cast<int>(ToIndex(BatchFor(facts))), block);
}

void HitDensityPolicy::Untrack(BlockId block, UntrackReason) { Remove(block); }

std::optional<BlockId> HitDensityPolicy::Victim(AgeMs now, absl::FunctionRef<bool(BlockId)> may_go) {
  FollowModel();
  Advance(now);
  if (const auto block = SetAsideThatMayGo(kTriesPerCall, may_go)) return block;
  while (const auto list = LeastWorth()) {
    const BatchId batch = *batches_.Oldest(*list);
    const BlockId block = *blocks_.Oldest(static_cast<int>(ToIndex(batch)));
    if (may_go(block)) return block;
    SetAside(block);
  }
  return SetAsideThatMayGo(set_aside_, may_go);
}

// It was worth least of all when it was set aside, so it goes before anything else.
std::optional<BlockId> HitDensityPolicy::SetAsideThatMayGo(int64_t tries, absl::FunctionRef<bool(BlockId)> may_go) {
  for (tries = std::min(tries, set_aside_); tries > 0; --tries) {
    const BlockId block = *blocks_.Oldest(kSetAside);
    if (may_go(block)) return block;
    blocks_.Remove(block);
    blocks_.PushNewest(kSetAside, block);
  }
  return std::nullopt;
}

void HitDensityPolicy::SetAside(BlockId block) {
  Remove(block);
  blocks_.PushNewest(kSetAside, block);
  ++set_aside_;
}

// Blocks of a sequence are tracked one right after another.
HitDensityPolicy::BatchId HitDensityPolicy::BatchFor(const BlockFacts& facts) {
  const AgeMs last_use = facts.last_use.at;
  const int kind = ListOf(PriorityIndex(facts.priority), {static_cast<uint8_t>(model_.ClassOf(facts)), 0});
  if (open_ && open_kind_ == kind && last_use_[ToIndex(*open_)] == last_use) return *open_;
  const BatchId batch = NewBatch(last_use);
  PushBatch(kind + AgeBucket(ToIndex(now_) - ToIndex(last_use)), batch);
  open_ = batch;
  open_kind_ = kind;
  return batch;
}

HitDensityPolicy::BatchId HitDensityPolicy::NewBatch(AgeMs last_use) {
  if (no_longer_.empty()) {
    no_longer_.push_back(BatchId{static_cast<uint32_t>(blocks_.AddList())});
    last_use_.emplace_back();
  }
  const BatchId batch = no_longer_.back();
  no_longer_.pop_back();
  last_use_[ToIndex(batch)] = last_use;
  return batch;
}

void HitDensityPolicy::PushBatch(int list, BatchId batch) {
  const bool was_empty = batches_.Empty(list);
  batches_.PushNewest(list, batch);
  ++batches_of_[list / cells_];
  if (was_empty) MarkEmptiness(list);
}

void HitDensityPolicy::RemoveBatch(BatchId batch) {
  const int list = batches_.ListOf(batch);
  batches_.Remove(batch);
  --batches_of_[list / cells_];
  if (batches_.Empty(list)) MarkEmptiness(list);
}

void HitDensityPolicy::Remove(BlockId block) {
  const int list = blocks_.ListOf(block);
  blocks_.Remove(block);
  if (list == kSetAside) {
    --set_aside_;
  } else if (blocks_.Empty(list)) {
    const BatchId batch{static_cast<uint32_t>(list)};
    RemoveBatch(batch);
    no_longer_.push_back(batch);
    if (open_ == batch) open_.reset();
  }
}

void HitDensityPolicy::MarkEmptiness(int list) {
  const int rank = rank_[list % cells_];
  uint64_t& word = occupied_[list / cells_ * Words(cells_) + rank / kBitsPerWord];
  const uint64_t bit = uint64_t{1} << (rank % kBitsPerWord);
  word = batches_.Empty(list) ? word & ~bit : word | bit;
}

// The lists are asked no more often than the first bucket is long, so this costs nothing that shows, however many there
// are. From the oldest bucket down, so that what moves on is always younger than what is there. After a leap in time
// everything has to move: then each call does its share, and until all is done some blocks count as younger than they
// are.
void HitDensityPolicy::Advance(AgeMs now) {
  now_ = std::max(now_, now);
  if (now_ < next_advance_) return;
  int64_t moves = kMovesPerCall;
  for (int bucket = kAgeBuckets - 2; bucket >= 0; --bucket) {
    for (int list = bucket; list < kPriorities * cells_; list += kAgeBuckets) {
      if (!AdvanceList(list, bucket, moves)) return;
    }
  }
  next_advance_ = AgeMs{ToIndex(now_) + kAgeResolutionMs};
}

// False when the moves ran out.
bool HitDensityPolicy::AdvanceList(int list, int bucket, int64_t& moves) {
  while (const auto batch = batches_.Oldest(list)) {
    const int age = AgeBucket(ToIndex(now_) - ToIndex(last_use_[ToIndex(*batch)]));
    if (age <= bucket) return true;
    if (moves-- == 0) return false;
    RemoveBatch(*batch);
    PushBatch(list - bucket + age, *batch);
  }
  return true;
}

void HitDensityPolicy::FollowModel() {
  if (revision_ == model_.revision()) return;
  revision_ = model_.revision();
  for (size_t rank = 0; rank < model_.order().size(); ++rank) {
    rank_[ListOf(0, model_.order()[rank])] = static_cast<uint16_t>(rank);
  }
  std::fill(occupied_.begin(), occupied_.end(), 0);
  for (int list = 0; list < kPriorities * cells_; ++list) {
    if (!batches_.Empty(list)) MarkEmptiness(list);
  }
}

std::optional<int> HitDensityPolicy::FirstRank(int priority) const {
  if (batches_of_[priority] == 0) return std::nullopt;
  const int words = Words(cells_);
  for (int word = 0; word < words; ++word) {
    const uint64_t bits = occupied_[priority * words + word];
    if (bits != 0) return word * kBitsPerWord + std::countr_zero(bits);
  }
  return std::nullopt;
}

std::optional<int> HitDensityPolicy::LeastWorth() const {
  std::optional<int> least;
  double least_worth = 0;
  double weight = 1;
  for (int priority = 0; priority < kPriorities; ++priority, weight *= kPriorityWeight) {
    const auto rank = FirstRank(priority);
    if (!rank) continue;
    const ReuseModel::Cell& cell = model_.order()[*rank];
    const double worth = weight * model_.worth(cell);
    if (least && worth >= least_worth) continue;
    least = ListOf(priority, cell);
    least_worth = worth;
  }
  return least;
}

void HitDensityPolicy::Reset() {
  blocks_ = IdLists<BlockId>(kSetAside + 1);
  batches_.Clear();
  last_use_.resize(kSetAside + 1);
  no_longer_.clear();
  batches_of_ = {};
  set_aside_ = 0;
  open_.reset();
  std::fill(occupied_.begin(), occupied_.end(), 0);
}

void HitDensityPolicy::VisitCounters(absl::FunctionRef<void(std::string_view, int64_t)> visit) const {
  visit("tracked_blocks", blocks_.size());
  visit("batches", batches_.size());
  visit("set_aside_blocks", set_aside_);
}

}  // namespace headstart
