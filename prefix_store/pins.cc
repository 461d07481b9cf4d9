// Pins: leases without a sequence, and the share of the device that they may hold.

#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "prefix_store/prefix_store_core.h"

namespace headstart {

absl::StatusOr<std::unique_ptr<PinState>> PrefixStoreCore::Pin(const Scope& scope, TokenSpan tokens) {
  const std::vector<BlockId> blocks = Pinnable(scope, tokens);
  if (blocks.empty()) {
    return absl::NotFoundError(
        fmt::format("nothing of these {} tokens is cached on the device; run them first", tokens.size()));
  }
  const int64_t more = std::ssize(blocks) - PinnedOf(blocks);
  if (absl::Status status = CheckShare(more, /*promised=*/0); !status.ok()) return status;
  if (Unheld(blocks) > Available()) {
    return absl::ResourceExhaustedError(fmt::format(
        "the prefix needs {} blocks pinned and {} of {} can be had now; wait until running sequences let go",
        Unheld(blocks), Available(), pool_.device().size()));
  }
  auto pin = std::make_unique<PinState>();
  pin->store = this;
  pin->blocks = blocks;
  pin->tokens = std::ssize(tokens);
  for (const BlockId block : blocks) HoldPin(block);
  pins_.insert(pin.get());
  // Whoever asked to have it kept would not want a kill to take it.
  const auto whole = std::min<int64_t>(std::ssize(tokens) / options_.block_tokens, std::ssize(blocks));
  if (whole > 0) tiering_.WriteThrough(blocks[whole - 1]);
  return pin;
}

absl::StatusOr<int64_t> PrefixStoreCore::CheckPin(const Scope& scope, TokenSpan tokens, int64_t promised_blocks) const {
  const int64_t more = BlocksFor(std::ssize(tokens)) - PinnedOf(Pinnable(scope, tokens));
  if (absl::Status status = CheckShare(more, promised_blocks); !status.ok()) return status;
  return more;
}

absl::Status PrefixStoreCore::CheckShare(int64_t more, int64_t promised) const {
  const int64_t most = pool_.device().size() * options_.pinned_percent / 100;
  if (pinned_blocks_ + promised + more <= most) return absl::OkStatus();
  return absl::ResourceExhaustedError(fmt::format(
      "the prefix needs {} more pinned blocks and pins hold {} of at most {} ({}% of the device's {}){}; let go of "
      "others, give pins a larger share, or the device more memory",
      more, pinned_blocks_, most, options_.pinned_percent, pool_.device().size(),
      promised == 0 ? "" : fmt::format(", with {} promised to prefixes that are being computed", promised)));
}

int64_t PrefixStoreCore::PinnedOf(const std::vector<BlockId>& blocks) const {
  return std::count_if(blocks.begin(), blocks.end(), [&](BlockId block) { return pool_[block].pins > 0; });
}

std::vector<BlockId> PrefixStoreCore::Pinnable(const Scope& scope, TokenSpan tokens) const {
  const TreeMatch match = WithoutExpired(tree_.Match(scopes_.Find(scope), tokens));
  const auto there = [&](BlockId block) { return pool_[block].on_device() && !pool_[block].loading; };
  std::vector<BlockId> blocks = tree_.Path(match.at);
  blocks.erase(std::find_if_not(blocks.begin(), blocks.end(), there), blocks.end());
  const bool all_of_tail = MatchedTokens(match) == std::ssize(tokens) && std::ssize(blocks) == match.at.blocks;
  if (match.partial && all_of_tail && there(*match.partial)) blocks.push_back(*match.partial);
  return blocks;
}

void PrefixStoreCore::HoldPin(BlockId block) {
  residence_.Lease(block);
  if (pool_[block].pins++ == 0) ++pinned_blocks_;
}

// What was pinned is as good as used until now; its last real use is not forgotten.
void PrefixStoreCore::LetGoPin(BlockId block) {
  Block& record = pool_[block];
  if (--record.pins == 0) --pinned_blocks_;
  record.last_use.at = residence_.now();
  residence_.Release(block);
}

void PrefixStoreCore::Unpin(PinState& pin) {
  pins_.erase(&pin);
  for (auto block = pin.blocks.rbegin(); block != pin.blocks.rend(); ++block) LetGoPin(*block);
}

// A block leaves the tree after all that hang below it.
int64_t PrefixStoreCore::PinnedTokens(const PinState& pin) const {
  const auto gone =
      std::partition_point(pin.blocks.begin(), pin.blocks.end(), [&](BlockId block) { return pool_[block].cached(); });
  return std::min<int64_t>(pin.tokens, (gone - pin.blocks.begin()) * options_.block_tokens);
}

// A tail leaves the tree when another block comes to hold its tokens: that one is pinned in its place. Rare, so the
// pins are looked through.
void PrefixStoreCore::MovePins(BlockId from, std::optional<BlockId> to) {
  if (pool_[from].pins == 0) return;
  for (PinState* pin : pins_) {
    if (pin->blocks.empty() || pin->blocks.back() != from) continue;
    pin->blocks.pop_back();
    if (to) {
      HoldPin(*to);
      pin->blocks.push_back(*to);
    }
    LetGoPin(from);
  }
}

// --- the facade

PinnedPrefix::PinnedPrefix() = default;
PinnedPrefix::PinnedPrefix(std::unique_ptr<PinState> state) : state_(std::move(state)) {}
PinnedPrefix::PinnedPrefix(PinnedPrefix&&) noexcept = default;

PinnedPrefix& PinnedPrefix::operator=(PinnedPrefix&& other) noexcept {
  std::swap(state_, other.state_);
  if (this != &other) PinnedPrefix(std::move(other));  // lets go of what this one held
  return *this;
}

PinnedPrefix::~PinnedPrefix() {
  if (state_ != nullptr) state_->store->Unpin(*state_);
}

int64_t PinnedPrefix::pinned_tokens() const { return state_ == nullptr ? 0 : state_->store->PinnedTokens(*state_); }

}  // namespace headstart
