#include "gateway/ledger/usage_totals.h"

#include <cstdint>
#include <limits>

namespace headstart {
namespace {

int64_t SaturatedSum(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

int64_t SaturatedDifference(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return a > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

// a = combine(a, b), figure by figure: the one list of them.
template <typename Combine>
void ForEachFigure(v1::TierTokens& a, const v1::TierTokens& b, const Combine& combine) {
  a.set_device(combine(a.device(), b.device()));
  a.set_host(combine(a.host(), b.host()));
  a.set_disk(combine(a.disk(), b.disk()));
  a.set_remote(combine(a.remote(), b.remote()));
}

template <typename Combine>
void ForEachFigure(v1::Usage& a, const v1::Usage& b, const Combine& combine) {
  a.set_prompt_tokens(combine(a.prompt_tokens(), b.prompt_tokens()));
  a.set_cached_tokens(combine(a.cached_tokens(), b.cached_tokens()));
  a.set_computed_prompt_tokens(combine(a.computed_prompt_tokens(), b.computed_prompt_tokens()));
  ForEachFigure(*a.mutable_cached_by_tier(), b.cached_by_tier(), combine);
  a.set_cache_write_tokens(combine(a.cache_write_tokens(), b.cache_write_tokens()));
  a.set_completion_tokens(combine(a.completion_tokens(), b.completion_tokens()));
  a.set_recomputed_tokens(combine(a.recomputed_tokens(), b.recomputed_tokens()));
}

template <typename Combine>
void ForEachFigure(v1::Charge& a, const v1::Charge& b, const Combine& combine) {
  a.set_cost_nanos(combine(a.cost_nanos(), b.cost_nanos()));
  a.set_cost_without_cache_nanos(combine(a.cost_without_cache_nanos(), b.cost_without_cache_nanos()));
  a.set_saved_nanos(combine(a.saved_nanos(), b.saved_nanos()));
}

template <typename Combine>
void ForEachFigure(v1::UsageTotals& a, const v1::UsageTotals& b, const Combine& combine) {
  a.set_requests(combine(a.requests(), b.requests()));
  ForEachFigure(*a.mutable_usage(), b.usage(), combine);
  a.set_storage_token_seconds(combine(a.storage_token_seconds(), b.storage_token_seconds()));
  ForEachFigure(*a.mutable_charge(), b.charge(), combine);
}

}  // namespace

v1::UsageTotals TotalsOf(const v1::UsageEntry& entry) {
  v1::UsageTotals part;
  part.set_requests(entry.kind() == v1::USAGE_KIND_STORAGE ? 0 : 1);
  *part.mutable_usage() = entry.usage();
  part.set_storage_token_seconds(entry.storage_token_seconds());
  *part.mutable_charge() = entry.charge();
  v1::UsageTotals totals;
  Add(part, totals);
  return totals;
}

void Add(const v1::UsageTotals& part, v1::UsageTotals& sum) {
  v1::UsageTotals both = sum;  // the two may be one
  ForEachFigure(both, part, SaturatedSum);
  both.mutable_charge()->set_currency(part.charge().currency());
  sum = std::move(both);
}

v1::UsageTotals Difference(const v1::UsageTotals& after, const v1::UsageTotals& before) {
  v1::UsageTotals difference = after;
  ForEachFigure(difference, before, SaturatedDifference);
  return difference;
}

}  // namespace headstart
