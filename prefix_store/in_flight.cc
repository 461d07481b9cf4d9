#include "prefix_store/in_flight.h"

#include <algorithm>

#include "fmt/format.h"

namespace headstart {

std::unique_ptr<InFlight::Claim> InFlight::Announce(ScopeId scope, TokenSpan tokens, int64_t cached_blocks,
                                                    uint64_t hash) {
  auto claim = std::make_unique<Claim>();
  claim->scope_ = scope;
  claim->tokens_.assign(tokens.begin(), tokens.end());
  claim->first_ = claim->next_ = cached_blocks;
  for (int64_t i = cached_blocks; i < std::ssize(tokens) / block_tokens_; ++i) {
    hash = hasher_.Chain(hash, tokens.subspan(i * block_tokens_, block_tokens_));
    claim->hashes_.push_back(hash);
    index_[hash].push_back(claim.get());
  }
  return claim;
}

void InFlight::Shrink(Claim& claim, int64_t blocks) {
  for (const int64_t end = std::min(blocks, claim.end()); claim.next_ < end; ++claim.next_) {
    const auto entry = index_.find(claim.hashes_[claim.next_ - claim.first_]);
    Claims& claims = entry->second;
    claims.erase(std::find(claims.begin(), claims.end(), &claim));
    if (claims.empty()) index_.erase(entry);
  }
}

int64_t InFlight::BlocksAhead(ScopeId scope, TokenSpan tokens, int64_t cached_blocks, uint64_t hash) const {
  if (index_.empty() || std::ssize(tokens) < (cached_blocks + 1) * block_tokens_) return cached_blocks;
  hash = hasher_.Chain(hash, tokens.subspan(cached_blocks * block_tokens_, block_tokens_));
  const auto entry = index_.find(hash);
  if (entry == index_.end()) return cached_blocks;
  int64_t ahead = cached_blocks;
  for (const Claim* claim : entry->second) {
    if (claim->scope_ != kPublicScope && claim->scope_ != scope) continue;
    if (claim->next_ > cached_blocks) continue;
    const int64_t equal = static_cast<int64_t>(CommonTokens(claim->tokens_, tokens)) / block_tokens_;
    ahead = std::max(ahead, std::min(equal, claim->end()));
  }
  return ahead;
}

absl::Status InFlight::Check(const std::vector<const Claim*>& claims) const {
  int64_t claimed = 0;
  for (const Claim* claim : claims) {
    for (int64_t i = claim->next_; i < claim->end(); ++i, ++claimed) {
      const auto entry = index_.find(claim->hashes_[i - claim->first_]);
      if (entry == index_.end() ||
          std::find(entry->second.begin(), entry->second.end(), claim) == entry->second.end()) {
        return absl::InternalError("in flight: a claimed block is not in the index");
      }
    }
  }
  int64_t indexed = 0;
  for (const auto& [hash, entries] : index_) indexed += std::ssize(entries);
  if (indexed == claimed) return absl::OkStatus();
  return absl::InternalError(fmt::format("in flight: {} blocks in the index, {} claimed", indexed, claimed));
}

}  // namespace headstart
