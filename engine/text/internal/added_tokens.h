// AddedTokens: finds added tokens in a text, the leftmost first and of those the longest, and cuts the text there.
//
// Thread-safety: immutable after construction.

#ifndef HEADSTART_ENGINE_TEXT_INTERNAL_ADDED_TOKENS_H_
#define HEADSTART_ENGINE_TEXT_INTERNAL_ADDED_TOKENS_H_

#include <bitset>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/text/tokenizer.h"
#include "engine/text/tokenizer_spec.h"

namespace headstart {

// A stretch of text: one added token, or the text between two.
struct Segment {
  size_t begin = 0;
  size_t end = 0;
  std::optional<TokenId> token{};
};

class AddedTokens {
 public:
  explicit AddedTokens(std::vector<AddedToken> tokens);

  bool empty() const { return tokens_.empty(); }

  // Cuts the text; segments come in order and cover it. `literal` as in EncodeOptions: a special token that overlaps
  // such a range is text. Without `parse_special` a special token is text, and so is whatever lies within it: that is
  // how the reference does it. REQUIRES: text is valid UTF-8.
  std::vector<Segment> Cut(std::string_view text, bool parse_special, const std::vector<TextRange>& literal) const;

 private:
  struct Node {
    std::vector<std::pair<char, int32_t>> children{};
    int32_t token = -1;  // index into tokens_
  };
  struct Match {
    size_t begin = 0;
    size_t end = 0;
    const AddedToken* token = nullptr;
  };

  void Insert(std::string_view text, int32_t token);
  int32_t Child(int32_t node, char c) const;
  std::optional<Match> Find(std::string_view text, size_t from, const std::vector<TextRange>& literal) const;
  std::optional<Match> LongestAt(std::string_view text, size_t begin, const std::vector<TextRange>& literal) const;

  std::vector<AddedToken> tokens_;
  std::vector<Node> nodes_;      // a trie over bytes; the first is its root
  std::bitset<256> begins_one_;  // bytes that some token begins with
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_TEXT_INTERNAL_ADDED_TOKENS_H_
