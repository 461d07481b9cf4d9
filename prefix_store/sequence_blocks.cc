#include <utility>

#include "prefix_store/prefix_store_core.h"

namespace headstart {

SequenceBlocks::SequenceBlocks() = default;
SequenceBlocks::SequenceBlocks(std::unique_ptr<SequenceState> state) : state_(std::move(state)) {}
SequenceBlocks::SequenceBlocks(SequenceBlocks&&) noexcept = default;

SequenceBlocks& SequenceBlocks::operator=(SequenceBlocks&& other) noexcept {
  std::swap(state_, other.state_);
  if (this != &other) SequenceBlocks(std::move(other));  // lets go of what this one held
  return *this;
}

SequenceBlocks::~SequenceBlocks() {
  if (state_ != nullptr) state_->store->Release(*state_);
}

std::span<const SlotIndex> SequenceBlocks::slots() const {
  if (state_ == nullptr) return {};
  return state_->slots;
}

int64_t SequenceBlocks::cached_tokens() const { return state_ == nullptr ? 0 : state_->cached_tokens; }

TokensByTier SequenceBlocks::cached_by_tier() const { return state_ == nullptr ? TokensByTier{} : state_->by_tier; }

LoadState SequenceBlocks::load_state() const { return state_ == nullptr ? LoadState::kReady : state_->load_state; }

MissReason SequenceBlocks::miss_reason() const { return state_ == nullptr ? MissReason::kNone : state_->miss_reason; }

std::span<const BlockCopy> SequenceBlocks::copies() const {
  if (state_ == nullptr) return {};
  return state_->copies;
}

void SequenceBlocks::CopiesDone() {
  if (state_ != nullptr) state_->store->CopiesDone(*state_);
}

absl::Status SequenceBlocks::Reserve(int64_t tokens) {
  if (state_ == nullptr) return absl::FailedPreconditionError("these SequenceBlocks are empty; acquire them first");
  return state_->store->Reserve(*state_, tokens);
}

void SequenceBlocks::Take(int64_t tokens) {
  if (state_ != nullptr) state_->store->Take(*state_, tokens);
}

int64_t SequenceBlocks::Publish(std::span<const TokenId> tokens) {
  return state_ == nullptr ? 0 : state_->store->Publish(*state_, tokens);
}

}  // namespace headstart
