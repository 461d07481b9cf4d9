// Making what a sequence has computed visible. The place to go on from is the record of the sequence's last block in
// the tree, which splits keep up to date; so each call costs what is new, however long the sequence is.

#include <algorithm>
#include <utility>

#include "prefix_store/prefix_store_core.h"

namespace headstart {

int64_t PrefixStoreCore::Publish(SequenceState& sequence, TokenSpan tokens) {
  if (!sequence.publishes) return 0;
  const int64_t block_tokens = options_.block_tokens;
  int64_t written = 0;
  while (sequence.publishes && (sequence.tree_blocks + 1) * block_tokens <= std::ssize(tokens)) {
    written += PublishWhole(sequence, tokens.subspan(sequence.tree_blocks * block_tokens, block_tokens));
  }
  const TokenSpan tail = tokens.subspan(std::min<size_t>(tokens.size(), sequence.tree_blocks * block_tokens));
  if (sequence.publishes && !tail.empty()) written += PublishTail(sequence, tail);
  if (sequence.claim != nullptr) in_flight_.Shrink(*sequence.claim, sequence.tree_blocks);
  counts_.written_tokens += written;
  return written;
}

int64_t PrefixStoreCore::PublishWhole(SequenceState& sequence, TokenSpan block) {
  const int64_t index = sequence.tree_blocks++;
  const TreePosition at = PositionOf(sequence, index);
  const BlockId own = sequence.blocks[index];
  const bool fresh = !TakeOut(own);
  const auto equal = tree_.FindNext(at, sequence.scope.id(), block);
  if (equal && pool_[*equal].loading) {
    // Another sequence brings it up while this one, which chose not to, has computed it. Too rare to be worth more.
    --sequence.tree_blocks;
    StopPublishing(sequence);
    return 0;
  }
  if (equal) {
    Share(sequence, index, *equal);
  } else {
    if (fresh) MarkNew(sequence, own);
    Insert(sequence, at, block, own);
  }
  return Count(sequence, sequence.tree_blocks * options_.block_tokens, !equal);
}

int64_t PrefixStoreCore::PublishTail(SequenceState& sequence, TokenSpan tail) {
  const int64_t index = sequence.tree_blocks;
  const BlockId own = sequence.blocks[index];
  const Block& record = pool_[own];
  if (record.cached() && record.node->tokens.size() >= tail.size()) return 0;
  const bool fresh = !TakeOut(own);
  const TreePosition at = PositionOf(sequence, index);
  const bool covered = tree_.Covers(at, sequence.scope.id(), tail);
  if (covered) {
    MovePins(own, std::nullopt);
  } else {
    if (fresh) MarkNew(sequence, own);
    Insert(sequence, at, tail, own);
  }
  return Count(sequence, index * options_.block_tokens + std::ssize(tail), !covered);
}

TreePosition PrefixStoreCore::PositionOf(const SequenceState& sequence, int64_t block) const {
  return block == 0 ? tree_.Root() : tree_.After(sequence.blocks[block - 1]);
}

// A tail grows by being hung anew with more tokens. No lower tier has it: while its writer holds it, it stays here.
// False when it was not in the tree.
bool PrefixStoreCore::TakeOut(BlockId block) {
  if (!pool_[block].cached()) return false;
  tree_.Remove(block);
  return true;
}

// The first to publish a block says how long and how dearly it is kept; those who use it can only add to that.
void PrefixStoreCore::MarkNew(SequenceState& sequence, BlockId block) {
  pool_[block].expires = ExpiryOf(sequence);
  pool_[block].priority = sequence.priority;
}

// Another sequence was first. Its bits are the same, so one of the two blocks is enough. When the other one's bytes are
// below the device, this one's slot becomes its.
void PrefixStoreCore::Share(SequenceState& sequence, int64_t index, BlockId shared) {
  const BlockId own = std::exchange(sequence.blocks[index], shared);
  residence_.Lease(shared);
  if (!pool_[shared].on_device()) residence_.MoveDevice(own, shared);
  sequence.slots[index] = pool_[shared].device;
  MovePins(own, shared);
  residence_.Release(own);
}

void PrefixStoreCore::Insert(SequenceState& sequence, const TreePosition& at, TokenSpan tokens, BlockId block) {
  const auto redundant = tree_.Insert(at, sequence.scope, tokens, block);
  if (redundant) {
    tiering_.Drop(*redundant);
    MovePins(*redundant, block);
  }
  tiering_.NameBlock(block);
  residence_.Cached(block);
}

void PrefixStoreCore::StopPublishing(SequenceState& sequence) {
  sequence.publishes = false;
  if (sequence.claim != nullptr) in_flight_.Withdraw(*std::exchange(sequence.claim, nullptr));
}

// Tokens up to `end` that count as written now: those that were neither found nor written before.
int64_t PrefixStoreCore::Count(SequenceState& sequence, int64_t end, bool written) {
  const int64_t counted = std::exchange(sequence.counted_tokens, std::max(sequence.counted_tokens, end));
  return written ? sequence.counted_tokens - counted : 0;
}

}  // namespace headstart
