#include "engine/text/internal/added_tokens.h"

#include <unicode/uchar.h>

#include <algorithm>

#include "engine/text/utf8.h"

namespace headstart {
namespace {

bool IsSpace(char32_t code_point) { return u_isUWhiteSpace(static_cast<UChar32>(code_point)); }

// What \w means in Unicode's recommendation for regular expressions.
bool IsWord(char32_t code_point) {
  constexpr uint32_t kCategories = U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK;
  const auto c = static_cast<UChar32>(code_point);
  return (U_MASK(u_charType(c)) & kCategories) != 0 || u_isUAlphabetic(c) || u_hasBinaryProperty(c, UCHAR_JOIN_CONTROL);
}

bool TouchesWord(std::string_view text, size_t begin, size_t end) {
  return (begin > 0 && IsWord(LastCodePoint(text.substr(0, begin)))) ||
         (end < text.size() && IsWord(FirstCodePoint(text.substr(end))));
}

// Where the white space that ends at `end` begins, but not before `limit`.
size_t SkipSpaceBack(std::string_view text, size_t end, size_t limit) {
  while (end > limit && IsSpace(LastCodePoint(text.substr(0, end)))) {
    while (IsContinuationByte(text[--end])) {
    }
  }
  return end;
}

size_t SkipSpace(std::string_view text, size_t begin) {
  while (begin < text.size() && IsSpace(FirstCodePoint(text.substr(begin)))) begin += CodePointSize(text[begin]);
  return begin;
}

bool Overlaps(const std::vector<TextRange>& ranges, size_t begin, size_t end) {
  const auto ends_before = [](const TextRange& range, size_t at) { return range.end <= at; };
  const auto range = std::lower_bound(ranges.begin(), ranges.end(), begin, ends_before);
  return range != ranges.end() && range->begin < end;
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)), nodes_(1) {
  for (size_t i = 0; i < tokens_.size(); ++i) Insert(tokens_[i].text, static_cast<int32_t>(i));
}

void AddedTokens::Insert(std::string_view text, int32_t token) {
  if (text.empty()) return;
  begins_one_.set(static_cast<unsigned char>(text[0]));
  int32_t node = 0;
  for (const char c : text) {
    int32_t child = Child(node, c);
    if (child < 0) {
      child = static_cast<int32_t>(nodes_.size());
      nodes_[node].children.emplace_back(c, child);
      nodes_.emplace_back();
    }
    node = child;
  }
  nodes_[node].token = token;
}

int32_t AddedTokens::Child(int32_t node, char c) const {
  for (const auto& [label, child] : nodes_[node].children) {
    if (label == c) return child;
  }
  return -1;
}

std::optional<AddedTokens::Match> AddedTokens::LongestAt(std::string_view text, size_t begin,
                                                         const std::vector<TextRange>& literal) const {
  std::optional<Match> longest;
  int32_t node = 0;
  for (size_t end = begin; end < text.size();) {
    node = Child(node, text[end++]);
    if (node < 0) break;
    if (nodes_[node].token < 0) continue;
    const AddedToken& token = tokens_[nodes_[node].token];
    if (!token.special || !Overlaps(literal, begin, end)) longest = Match{begin, end, &token};
  }
  return longest;
}

std::optional<AddedTokens::Match> AddedTokens::Find(std::string_view text, size_t from,
                                                    const std::vector<TextRange>& literal) const {
  for (size_t begin = from; begin < text.size(); ++begin) {
    if (!begins_one_.test(static_cast<unsigned char>(text[begin]))) continue;
    if (const std::optional<Match> match = LongestAt(text, begin, literal)) return match;
  }
  return std::nullopt;
}

std::vector<Segment> AddedTokens::Cut(std::string_view text, bool parse_special,
                                      const std::vector<TextRange>& literal) const {
  std::vector<Segment> segments;
  size_t done = 0;
  size_t from = 0;
  while (const std::optional<Match> match = Find(text, from, literal)) {
    from = match->end;
    const AddedToken& token = *match->token;
    if (token.special && !parse_special) continue;
    if (token.single_word && TouchesWord(text, match->begin, match->end)) continue;
    const size_t begin = token.left_strip ? SkipSpaceBack(text, match->begin, done) : match->begin;
    if (begin > done) segments.push_back({done, begin, std::nullopt});
    done = token.right_strip ? SkipSpace(text, match->end) : match->end;
    segments.push_back({begin, done, token.id});
  }
  if (done < text.size()) segments.push_back({done, text.size(), std::nullopt});
  return segments;
}

}  // namespace headstart
