// Byte-pair encoding of one word: its characters (or bytes) become tokens, then the neighbours of the lowest rank
// merge, the leftmost first, until none can.
//
// Thread-safety: both classes are immutable after creation; a scratch belongs to one thread.
// Errors: Create refuses merges that name tokens which the vocabulary lacks.

#ifndef HEADSTART_ENGINE_TEXT_INTERNAL_BPE_H_
#define HEADSTART_ENGINE_TEXT_INTERNAL_BPE_H_

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "engine/text/internal/byte_alphabet.h"
#include "engine/text/tokenizer_spec.h"

namespace headstart {

using TokenIndex = absl::flat_hash_map<std::string_view, TokenId, std::hash<std::string_view>>;

// Which pairs merge, in which order, into what.
class MergeTable {
 public:
  struct Merge {
    int32_t rank = 0;
    TokenId made{};
  };

  void Add(TokenId left, TokenId right, Merge merge) { merges_.insert_or_assign(Key(left, right), merge); }
  const Merge* Find(TokenId left, TokenId right) const {
    const auto it = merges_.find(Key(left, right));
    return it == merges_.end() ? nullptr : &it->second;
  }

  // Merges until nothing can: O(n log n) for n symbols.
  void Apply(std::vector<TokenId>& symbols) const;

 private:
  static uint64_t Key(TokenId left, TokenId right) {
    return static_cast<uint64_t>(ToIndex(left)) << 32 | static_cast<uint32_t>(ToIndex(right));
  }
  void ApplyToFew(std::vector<TokenId>& symbols) const;
  void ApplyToMany(std::vector<TokenId>& symbols) const;

  absl::flat_hash_map<uint64_t, Merge> merges_;
};

class Bpe {
 public:
  // `spec` must outlive it. No ordinary text becomes a special token: merges that would make one are left out.
  static absl::StatusOr<Bpe> Create(const TokenizerSpec& spec);

  // Appends the word's tokens. `scratch` only saves memory allocations.
  void Encode(std::string_view word, std::vector<TokenId>& scratch, std::vector<TokenId>& out) const;

 private:
  explicit Bpe(const TokenizerSpec& spec) : spec_(&spec) {}

  void IndexVocabulary();
  absl::Status AddRankedMerges();
  void AddScoredMerges();
  void AddSplitsOf(TokenId token, int32_t rank);
  std::optional<TokenId> IdOf(std::string_view text) const;

  void Symbols(std::string_view word, std::vector<TokenId>& out) const;
  void MissingSymbol(std::string_view character, bool& after_unknown, std::vector<TokenId>& out) const;
  bool FallBackToBytes(std::string_view character, std::vector<TokenId>& out) const;
  std::optional<TokenId> WholeWord(std::string_view word) const;

  const TokenizerSpec* spec_;
  ByteAlphabet alphabet_;
  TokenIndex index_;          // by the vocabulary's spelling, without special tokens
  size_t longest_token_ = 0;  // bytes of its spelling
  MergeTable merges_;
  std::array<std::optional<TokenId>, 256> byte_tokens_;   // <0xNN>
  std::array<std::optional<TokenId>, 256> byte_symbols_;  // byte-level: the token of one byte
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_TEXT_INTERNAL_BPE_H_
