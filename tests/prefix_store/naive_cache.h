// NaiveCache: the prefix cache that never forgets and has no structure, to compare the real one with. It keeps a digest
// of every prefix of everything that was published.

#ifndef HEADSTART_TESTS_PREFIX_STORE_NAIVE_CACHE_H_
#define HEADSTART_TESTS_PREFIX_STORE_NAIVE_CACHE_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_set>

#include "prefix_store/types.h"
#include "tests/prefix_store/simulated_memory.h"

namespace headstart::testing {

class NaiveCache {
 public:
  void Publish(const Scope& scope, const Tokens& tokens, int64_t count) {
    uint64_t digest = 0;
    for (int64_t i = 0; i < count; ++i) known_[KeyOf(scope)].insert(digest = Extend(digest, tokens[i]));
  }

  int64_t Hit(const Scope& scope, const Tokens& prompt) const {
    return std::max(LongestKnown(Scope::Public(), prompt), LongestKnown(scope, prompt));
  }

  void Clear() { known_.clear(); }
  void Forget(const Scope& scope) { known_.erase(KeyOf(scope)); }

 private:
  using Key = std::tuple<bool, std::string, std::string>;

  static Key KeyOf(const Scope& scope) { return {scope.is_public(), scope.tenant(), scope.partition()}; }
  static uint64_t Extend(uint64_t digest, TokenId token) {
    return (digest + static_cast<uint64_t>(ToIndex(token)) + 1) * 0x9e3779b97f4a7c15 ^ (digest >> 31);
  }

  int64_t LongestKnown(const Scope& scope, const Tokens& prompt) const {
    const auto found = known_.find(KeyOf(scope));
    if (found == known_.end()) return 0;
    uint64_t digest = 0;
    int64_t length = 0;
    while (length + 1 < std::ssize(prompt) && found->second.contains(digest = Extend(digest, prompt[length]))) ++length;
    return length;
  }

  std::map<Key, std::unordered_set<uint64_t>> known_;
};

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_PREFIX_STORE_NAIVE_CACHE_H_
