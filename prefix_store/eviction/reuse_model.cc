#include "prefix_store/eviction/reuse_model.h"

#include <algorithm>
#include <bit>

namespace headstart {
namespace {

// Classes are numbered: first turns by length, later turns by turn and by what they added, shared ones by hits. Lengths
// and hits are told apart by powers of two, so that they mean the same with blocks of 16 tokens and of 512.
constexpr int kLengths = 16;
constexpr int kLaterTurns = 5;
constexpr int kAdditions = 6;
constexpr int kHits = 12;
constexpr int kFirstLater = kLengths;
constexpr int kFirstShared = kFirstLater + kLaterTurns * kAdditions;
constexpr int kClasses = kFirstShared + kHits;

// A conversation's turns may end in one block when they are short; more sequences than this are no conversation.
constexpr uint32_t kForkEnds = 8;

// Ends of sequences, and shared prefixes that are watched: ten minutes of fifty sequences a second.
constexpr int64_t kRememberedPrefixes = 32'768;

// Of shared prefixes every eighth is watched; one block in eight of a long one tells what all would.
constexpr uint64_t kSharedSampleMask = 7;

// Working out the worths anew costs a quarter of a millisecond, so every 64 sequences; while there were few, each time
// that there are twice as many.
constexpr int64_t kSequencesPerFit = 64;

// Traffic changes over hours: with half lost after seven times, 30,000 sequences.
constexpr int64_t kSequencesPerFade = 4096;

int LogBucket(uint32_t value, int buckets) { return std::min<int>(std::bit_width(value), buckets - 1); }

// 1, 2, 3 to 4, 5 to 8, ... for value − 1 of these as well as for their count.
int CeilLog(uint32_t value, int buckets) { return value == 0 ? 0 : LogBucket(value - 1, buckets); }

int LaterTurnBucket(uint32_t turn) {
  constexpr std::array<uint32_t, kLaterTurns - 1> kLast = {2, 3, 5, 8};
  return static_cast<int>(std::lower_bound(kLast.begin(), kLast.end(), turn) - kLast.begin());
}

SequenceKind KindOf(uint32_t turn, uint32_t blocks, uint32_t added) {
  const int kind = turn == 1 ? CeilLog(blocks, kLengths)
                             : kFirstLater + LaterTurnBucket(turn) * kAdditions + CeilLog(added, kAdditions);
  return SequenceKind{static_cast<uint8_t>(kind)};
}

std::vector<ReuseClassPlace> Places() {
  constexpr int kOwn = 0;
  constexpr int kShared = 1;
  std::vector<ReuseClassPlace> places;
  places.reserve(kClasses);
  for (int i = 0; i < kFirstLater; ++i) places.push_back({kOwn, 0});
  for (int i = kFirstLater; i < kFirstShared; ++i) places.push_back({kOwn, 1 + (i - kFirstLater) / kAdditions});
  for (int i = kFirstShared; i < kClasses; ++i) places.push_back({kShared, 1 + kLaterTurns});
  return places;
}

// The last block of a sequence may be incomplete, and then becomes another block in the next turn.
const SequenceBlock& EndOf(std::span<const SequenceBlock> blocks) {
  return blocks[std::max<size_t>(blocks.size(), 2) - 2];
}

}  // namespace

ReuseModel::ReuseModel() : statistics_(Places()), memory_(kRememberedPrefixes) { Order(); }

int ReuseModel::ClassOf(const LastUse& use, uint32_t hits) const {
  if (use.turn > 0 && hits >= use.turn) return kFirstShared + LogBucket(hits, kHits + 1) - 1;
  return ToIndex(use.kind);
}

LastUse ReuseModel::SequenceEnds(AgeMs now, std::span<const SequenceBlock> blocks) {
  now_ = std::max(now_, now);
  memory_.Age(now_, [this](const SequenceMemory::Prefix& prefix, int age) {
    statistics_.CountAtRisk(prefix.block_class, age);
  });
  const Turn turn = TurnOf(blocks);
  const auto length = static_cast<uint32_t>(blocks.size());
  const LastUse use = {.at = now_, .turn = turn.turn, .kind = KindOf(turn.turn, length, turn.added_blocks)};
  if (!blocks.empty()) {
    Learn(blocks, use);
    RememberEnd(blocks, use);
  }
  ++sequences_;
  continued_ += turn.turn > 1;
  Refresh();
  return use;
}

// The deepest end within the sequence is the one it goes on from.
ReuseModel::Turn ReuseModel::TurnOf(std::span<const SequenceBlock> blocks) {
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
    const SequenceMemory::Prefix* end = memory_.Find(block->prefix_hash);
    if (end == nullptr || end->ends == 0) continue;
    if (end->ends > kForkEnds) break;
    const auto length = static_cast<uint32_t>(blocks.size());
    return {.turn = end->turn + 1, .added_blocks = length - std::min(length, end->blocks)};
  }
  return {};
}

void ReuseModel::Learn(std::span<const SequenceBlock> blocks, const LastUse& use) {
  for (const SequenceBlock& block : blocks) {
    if (SequenceMemory::Prefix* prefix = memory_.Find(block.prefix_hash)) CountReuse(*prefix);
    const int block_class = ClassOf(use, block.hits);
    const bool watched = block_class >= kFirstShared && (block.prefix_hash & kSharedSampleMask) == 0;
    if (watched) Watch(memory_.Touch(block.prefix_hash, now_), block_class);
  }
}

void ReuseModel::CountReuse(SequenceMemory::Prefix& prefix) {
  if (prefix.watched == 0) return;
  prefix.watched = 0;
  statistics_.CountReuse(prefix.block_class, AgeBucket(ToIndex(now_) - ToIndex(prefix.at)));
  ++reuses_;
}

void ReuseModel::Watch(SequenceMemory::Prefix& prefix, int block_class) {
  if (prefix.watched == 0) statistics_.CountAtRisk(block_class, 0);
  prefix.watched = 1;
  prefix.block_class = static_cast<uint8_t>(block_class);
}

void ReuseModel::RememberEnd(std::span<const SequenceBlock> blocks, const LastUse& use) {
  const SequenceBlock& end = EndOf(blocks);
  SequenceMemory::Prefix& prefix = memory_.Touch(end.prefix_hash, now_);
  prefix.blocks = static_cast<uint32_t>(blocks.size());
  prefix.turn = use.turn;
  ++prefix.ends;
  Watch(prefix, ClassOf(use, end.hits));
}

void ReuseModel::Refresh() {
  if (sequences_ % kSequencesPerFade == 0) statistics_.Fade();
  const bool few = sequences_ < kSequencesPerFit && std::has_single_bit(static_cast<uint64_t>(sequences_));
  if (!few && sequences_ % kSequencesPerFit != 0) return;
  statistics_.Fit();
  Order();
}

void ReuseModel::Order() {
  order_.clear();
  for (int age = kAgeBuckets - 1; age >= 0; --age) {
    for (int i = 0; i < classes(); ++i) order_.push_back({static_cast<uint8_t>(i), static_cast<uint8_t>(age)});
  }
  std::stable_sort(order_.begin(), order_.end(), [this](const Cell& a, const Cell& b) { return worth(a) < worth(b); });
  ++revision_;
}

void ReuseModel::Reset() {
  const int64_t revision = revision_;
  *this = ReuseModel();
  revision_ += revision;
}

void ReuseModel::VisitCounters(absl::FunctionRef<void(std::string_view, int64_t)> visit) const {
  visit("sequences", sequences_);
  visit("continued_sequences", continued_);
  visit("observed_reuses", reuses_);
  visit("remembered_prefixes", memory_.size());
}

}  // namespace headstart
