#include "engine/scheduler/prefill_share.h"

#include <algorithm>
#include <numeric>

namespace headstart {

std::vector<int64_t> SharePrefill(std::span<const int64_t> remaining, int64_t budget) {
  std::vector<int64_t> shares(remaining.size(), 0);
  const auto give = [&](size_t i, int64_t limit) {
    const int64_t tokens = std::min(limit, remaining[i] - shares[i]);
    shares[i] += tokens;
    budget -= tokens;
  };
  if (shares.empty()) return shares;
  give(0, (budget + 1) / 2);

  std::vector<size_t> shortest_first(remaining.size());
  std::iota(shortest_first.begin(), shortest_first.end(), size_t{0});
  std::ranges::stable_sort(shortest_first, {}, [&](size_t i) { return remaining[i]; });
  for (const size_t i : shortest_first) give(i, budget);
  return shares;
}

}  // namespace headstart
