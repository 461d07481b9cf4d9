#include "prefix_store/replay/belady.h"

#include <limits>
#include <set>
#include <vector>

namespace headstart {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// When each block of each request is asked for next, as the index of that request.
std::vector<std::vector<int64_t>> NextUses(const Trace& trace) {
  std::vector<std::vector<int64_t>> next(trace.requests.size());
  std::vector<int64_t> later(trace.distinct_blocks, kNever);
  for (int64_t i = std::ssize(trace.requests) - 1; i >= 0; --i) {
    for (const int32_t block : trace.requests[i].blocks) next[i].push_back(later[block]);
    for (const int32_t block : trace.requests[i].blocks) later[block] = i;
  }
  return next;
}

class OmniscientCache {
 public:
  OmniscientCache(int32_t distinct_blocks, int64_t capacity)
      : capacity_(capacity), entries_(distinct_blocks), held_(distinct_blocks) {}

  int64_t LeadingHits(const std::vector<int32_t>& blocks) const {
    int64_t hits = 0;
    while (hits < std::ssize(blocks) && held_[blocks[hits]]) ++hits;
    return hits;
  }

  void Use(const std::vector<int32_t>& blocks, const std::vector<int64_t>& next_uses) {
    for (size_t depth = 0; depth < blocks.size(); ++depth) {
      Drop(blocks[depth]);
      if (next_uses[depth] != kNever) Hold({next_uses[depth], depth, blocks[depth]});
    }
    while (std::ssize(order_) > capacity_) Drop(order_.rbegin()->block);
  }

 private:
  struct Entry {
    int64_t next_use = kNever;
    size_t depth = 0;
    int32_t block = 0;
    friend auto operator<=>(const Entry&, const Entry&) = default;
  };

  void Hold(const Entry& entry) {
    entries_[entry.block] = entry;
    held_[entry.block] = true;
    order_.insert(entry);
  }

  void Drop(int32_t block) {
    if (!held_[block]) return;
    held_[block] = false;
    order_.erase(entries_[block]);
  }

  const int64_t capacity_;
  std::vector<Entry> entries_;  // by block
  std::vector<bool> held_;
  std::set<Entry> order_;  // what is held, soonest next use first
};

}  // namespace

BeladyResult BeladyBound(const Trace& trace, int64_t capacity_blocks) {
  const auto next_uses = NextUses(trace);
  OmniscientCache cache(trace.distinct_blocks, capacity_blocks);
  BeladyResult result;
  double blocks = 0;
  double tokens = 0;
  for (size_t i = 0; i < trace.requests.size(); ++i) {
    const TraceRequest& request = trace.requests[i];
    const int64_t hits = cache.LeadingHits(request.blocks);
    cache.Use(request.blocks, next_uses[i]);
    result.hit_blocks += hits;
    result.hit_tokens += request.TokensIn(hits, trace.block_tokens);
    blocks += static_cast<double>(request.blocks.size());
    tokens += static_cast<double>(request.input_tokens);
  }
  if (blocks > 0) result.block_hit_ratio = static_cast<double>(result.hit_blocks) / blocks;
  if (tokens > 0) result.token_hit_ratio = static_cast<double>(result.hit_tokens) / tokens;
  return result;
}

}  // namespace headstart
