// Device memory for tests: each token's place holds a digest of all tokens up to it and the scope that wrote it, so
// that a block that is wrongly shared, copied, freed or overwritten is seen by whoever reads it.

#ifndef HEADSTART_TESTS_PREFIX_STORE_SIMULATED_MEMORY_H_
#define HEADSTART_TESTS_PREFIX_STORE_SIMULATED_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/hash/hash.h"
#include "prefix_store/prefix_store.h"

namespace headstart::testing {

using Tokens = std::vector<TokenId>;

// Whether it counts who computed the bytes. It does not where a block below the device is computed again by somebody
// who may see it: the slot becomes that block's, since equal tokens have equal bytes.
enum class Writers { kMatter, kAreEqual };

class SimulatedMemory {
 public:
  SimulatedMemory(int block_tokens, int64_t slots) : block_tokens_(block_tokens), cells_(slots * block_tokens) {}

  // "Computes" the tokens [from, tokens.size()) of a sequence, whose earlier ones are read, as attention does.
  void Compute(std::span<const SlotIndex> slots, const Scope& scope, const Tokens& tokens, int64_t from) {
    uint64_t digest = from == 0 ? kStart : At(slots, from - 1).digest;
    const size_t writer = WriterOf(scope);
    for (int64_t t = from; t < std::ssize(tokens); ++t) {
      digest = Extend(digest, tokens[t]);
      At(slots, t) = {digest, writer};
    }
  }

  void Copy(const BlockCopy& copy, const Scope& scope) {
    for (int i = 0; i < copy.tokens; ++i) {
      cells_[ToIndex(copy.to) * block_tokens_ + i] = {cells_[ToIndex(copy.from) * block_tokens_ + i].digest,
                                                      WriterOf(scope)};
    }
  }

  // The first of the first `count` tokens whose bytes are not what computing them would give, or come from a scope that
  // `scope` must not see.
  std::optional<int64_t> FirstWrong(std::span<const SlotIndex> slots, const Scope& scope, const Tokens& tokens,
                                    int64_t count, Writers writers = Writers::kMatter) const {
    uint64_t digest = kStart;
    const size_t reader = WriterOf(scope);
    for (int64_t t = 0; t < count; ++t) {
      digest = Extend(digest, tokens[t]);
      const Cell& cell = cells_[ToIndex(slots[t / block_tokens_]) * block_tokens_ + t % block_tokens_];
      const bool may_read = writers == Writers::kAreEqual || cell.writer == kPublic || cell.writer == reader;
      if (cell.digest != digest || !may_read) return t;
    }
    return std::nullopt;
  }

  // The bytes behind a slot, as a tier moves them.
  std::span<std::byte> Bytes(SlotIndex slot) {
    return std::as_writable_bytes(std::span(cells_).subspan(ToIndex(slot) * block_tokens_, block_tokens_));
  }
  int64_t slots() const { return std::ssize(cells_) / block_tokens_; }
  int64_t block_bytes() const { return static_cast<int64_t>(block_tokens_ * sizeof(Cell)); }

 private:
  static constexpr uint64_t kStart = 0x9e3779b97f4a7c15;
  static constexpr size_t kPublic = 0;
  struct Cell {
    uint64_t digest = 0;
    size_t writer = kPublic;
  };

  static size_t WriterOf(const Scope& scope) { return scope.is_public() ? kPublic : absl::HashOf(scope) | 1; }

  static uint64_t Extend(uint64_t digest, TokenId token) {
    digest = (digest ^ static_cast<uint64_t>(ToIndex(token)) ^ (digest >> 29)) * 0xbf58476d1ce4e5b9;
    return digest + 1;
  }
  Cell& At(std::span<const SlotIndex> slots, int64_t t) {
    return cells_[ToIndex(slots[t / block_tokens_]) * block_tokens_ + t % block_tokens_];
  }

  int block_tokens_;
  std::vector<Cell> cells_;
};

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_PREFIX_STORE_SIMULATED_MEMORY_H_
