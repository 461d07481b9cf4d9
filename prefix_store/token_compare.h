// Comparing runs of tokens, the one place where the store's matching time goes.
//
// Thread-safety: pure functions.

#ifndef HEADSTART_PREFIX_STORE_TOKEN_COMPARE_H_
#define HEADSTART_PREFIX_STORE_TOKEN_COMPARE_H_

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "prefix_store/types.h"

namespace headstart {

using TokenSpan = std::span<const TokenId>;

// How many tokens `a` and `b` have in common from their start.
inline size_t CommonTokens(TokenSpan a, TokenSpan b) {
  const size_t limit = std::min(a.size(), b.size());
  size_t common = 0;
  const auto equal = [&](size_t step) {
    return common + step <= limit && std::memcmp(a.data() + common, b.data() + common, step * sizeof(TokenId)) == 0;
  };
  // Long steps for memcmp's vector loop, then shorter ones, so that the loop over single tokens stays short.
  while (equal(64)) common += 64;
  while (equal(8)) common += 8;
  while (common < limit && a[common] == b[common]) ++common;
  return common;
}

inline bool StartsWith(TokenSpan tokens, TokenSpan start) {
  return start.size() <= tokens.size() && CommonTokens(tokens, start) == start.size();
}

// Lexicographic order; a proper prefix comes first.
inline bool TokensLess(TokenSpan a, TokenSpan b) {
  const size_t common = CommonTokens(a, b);
  if (common == b.size()) return false;
  return common == a.size() || a[common] < b[common];
}

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_TOKEN_COMPARE_H_
