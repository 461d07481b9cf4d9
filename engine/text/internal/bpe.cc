#include "engine/text/internal/bpe.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "engine/text/utf8.h"
#include "fmt/format.h"

namespace headstart {
namespace {

// Up to here a scan over all pairs for each merge is faster than a heap.
constexpr size_t kFewSymbols = 48;

constexpr int32_t kNoMerge = std::numeric_limits<int32_t>::max();

// A possible merge of the symbol at a position with its right neighbour, as it was when queued: one number that orders
// by rank, then from the left. The rank also tells what the merge makes.
using Candidate = uint64_t;

Candidate MakeCandidate(int32_t rank, int32_t position) {
  return static_cast<uint64_t>(rank) << 32 | static_cast<uint32_t>(position);
}
int32_t RankOf(Candidate candidate) { return static_cast<int32_t>(candidate >> 32); }
int32_t PositionOf(Candidate candidate) { return static_cast<int32_t>(candidate & 0xFFFFFFFF); }

struct Symbol {
  TokenId token;
  int32_t previous;
  int32_t next;  // -1 at the end
  bool gone;
};

// The symbols of a long word as a linked list, with a heap of the merges that are possible.
class MergeQueue {
 public:
  MergeQueue(const MergeTable& table, const std::vector<TokenId>& tokens) : table_(table) {
    const auto count = static_cast<int32_t>(tokens.size());
    symbols_.reserve(tokens.size());
    for (int32_t i = 0; i < count; ++i) symbols_.push_back({tokens[i], i - 1, i + 1 < count ? i + 1 : -1, false});
    for (int32_t i = 0; i + 1 < count; ++i) {
      if (const MergeTable::Merge* merge = MergeAt(i)) candidates_.push_back(MakeCandidate(merge->rank, i));
    }
    std::make_heap(candidates_.begin(), candidates_.end(), std::greater<>());
  }

  void Run() {
    while (!candidates_.empty()) {
      std::pop_heap(candidates_.begin(), candidates_.end(), std::greater<>());
      const Candidate candidate = candidates_.back();
      candidates_.pop_back();
      if (symbols_[PositionOf(candidate)].gone) continue;
      const MergeTable::Merge* merge = MergeAt(PositionOf(candidate));
      if (merge != nullptr && merge->rank == RankOf(candidate)) Merge(PositionOf(candidate), merge->made);
    }
  }

  void Write(std::vector<TokenId>& tokens) const {
    tokens.clear();
    for (int32_t i = 0; i >= 0; i = symbols_[i].next) tokens.push_back(symbols_[i].token);
  }

 private:
  const MergeTable::Merge* MergeAt(int32_t position) const {
    const Symbol& left = symbols_[position];
    return left.next < 0 ? nullptr : table_.Find(left.token, symbols_[left.next].token);
  }

  void Push(int32_t position) {
    const MergeTable::Merge* merge = MergeAt(position);
    if (merge == nullptr) return;
    candidates_.push_back(MakeCandidate(merge->rank, position));
    std::push_heap(candidates_.begin(), candidates_.end(), std::greater<>());
  }

  void Merge(int32_t position, TokenId made) {
    Symbol& left = symbols_[position];
    Symbol& right = symbols_[left.next];
    right.gone = true;
    left.token = made;
    left.next = right.next;
    if (left.next >= 0) symbols_[left.next].previous = position;
    if (left.previous >= 0) Push(left.previous);
    Push(position);
  }

  const MergeTable& table_;
  std::vector<Symbol> symbols_;
  std::vector<Candidate> candidates_;  // a heap, the lowest first
};

// The value of a byte token's text "<0xNN>".
std::string ByteTokenText(int byte) { return fmt::format("<0x{:02X}>", byte); }

}  // namespace

void MergeTable::Apply(std::vector<TokenId>& symbols) const {
  if (symbols.size() < 2) return;
  if (symbols.size() <= kFewSymbols) return ApplyToFew(symbols);
  MergeQueue queue(*this, symbols);
  queue.Run();
  queue.Write(symbols);
}

void MergeTable::ApplyToFew(std::vector<TokenId>& symbols) const {
  std::array<Merge, kFewSymbols> merges;  // [i]: of symbols i and i + 1
  size_t count = symbols.size();
  const auto look_up = [&](size_t i) {
    const Merge* merge = i + 1 < count ? Find(symbols[i], symbols[i + 1]) : nullptr;
    merges[i] = merge != nullptr ? *merge : Merge{.rank = kNoMerge};
  };
  const auto by_rank = [](const Merge& a, const Merge& b) { return a.rank < b.rank; };
  for (size_t i = 0; i < count; ++i) look_up(i);
  while (count > 1) {
    const auto best = std::min_element(merges.begin(), merges.begin() + count - 1, by_rank);
    if (best->rank == kNoMerge) break;
    const size_t at = best - merges.begin();
    symbols[at] = best->made;
    std::copy(symbols.begin() + at + 2, symbols.begin() + count, symbols.begin() + at + 1);
    std::copy(merges.begin() + at + 2, merges.begin() + count, merges.begin() + at + 1);
    --count;
    look_up(at);
    if (at > 0) look_up(at - 1);
  }
  symbols.resize(count);
}

absl::StatusOr<Bpe> Bpe::Create(const TokenizerSpec& spec) {
  Bpe bpe(spec);
  bpe.IndexVocabulary();
  if (!spec.scores.empty()) {
    bpe.AddScoredMerges();
    return bpe;
  }
  if (absl::Status status = bpe.AddRankedMerges(); !status.ok()) return status;
  return bpe;
}

void Bpe::IndexVocabulary() {
  absl::flat_hash_set<TokenId> special;
  for (const AddedToken& token : spec_->added_tokens) {
    if (token.special) special.insert(token.id);
  }
  index_.reserve(spec_->vocabulary.size());
  for (size_t i = 0; i < spec_->vocabulary.size(); ++i) {
    const TokenId id{static_cast<int32_t>(i)};
    if (!spec_->vocabulary[i].empty() && !special.contains(id)) index_.emplace(spec_->vocabulary[i], id);
  }
  for (const std::string& text : spec_->vocabulary) longest_token_ = std::max(longest_token_, text.size());
  for (int byte = 0; byte < 256; ++byte) {
    byte_tokens_[byte] = IdOf(ByteTokenText(byte));
    byte_symbols_[byte] = IdOf(alphabet_.Spell(static_cast<uint8_t>(byte)));
  }
}

std::optional<TokenId> Bpe::IdOf(std::string_view text) const {
  const auto it = index_.find(text);
  return it == index_.end() ? std::nullopt : std::optional(it->second);
}

absl::Status Bpe::AddRankedMerges() {
  TokenIndex all;
  for (size_t i = 0; i < spec_->vocabulary.size(); ++i) {
    all.emplace(spec_->vocabulary[i], TokenId{static_cast<int32_t>(i)});
  }
  int32_t rank = 0;
  for (const TokenizerSpec::Merge& merge : spec_->merges) {
    const std::string made = merge.left + merge.right;
    for (const std::string* text : {&merge.left, &merge.right, &made}) {
      if (text->empty() || !all.contains(*text)) {
        return absl::InvalidArgumentError(
            fmt::format("merge {} ('{}' '{}') needs the token '{}', which is not in the vocabulary", rank, merge.left,
                        merge.right, *text));
      }
    }
    if (const std::optional<TokenId> id = IdOf(made)) merges_.Add(all[merge.left], all[merge.right], {rank, *id});
    ++rank;
  }
  return absl::OkStatus();
}

void Bpe::AddScoredMerges() {
  std::vector<int32_t> by_score(std::min(spec_->scores.size(), spec_->vocabulary.size()));
  std::iota(by_score.begin(), by_score.end(), 0);
  const auto better = [&](int32_t a, int32_t b) { return spec_->scores[a] > spec_->scores[b]; };
  std::stable_sort(by_score.begin(), by_score.end(), better);
  int32_t rank = 0;
  for (size_t i = 0; i < by_score.size(); ++i) {
    if (i > 0 && better(by_score[i - 1], by_score[i])) ++rank;  // equal scores are equal ranks: the leftmost goes first
    AddSplitsOf(TokenId{by_score[i]}, rank);
  }
}

void Bpe::AddSplitsOf(TokenId token, int32_t rank) {
  const std::string_view text = spec_->vocabulary[ToIndex(token)];
  if (IdOf(text) != token) return;  // special, or the same text has another id
  for (size_t middle = 1; middle < text.size(); ++middle) {
    if (IsContinuationByte(text[middle])) continue;
    const std::optional<TokenId> left = IdOf(text.substr(0, middle));
    const std::optional<TokenId> right = left.has_value() ? IdOf(text.substr(middle)) : std::nullopt;
    if (right.has_value()) merges_.Add(*left, *right, {rank, token});
  }
}

void Bpe::Encode(std::string_view word, std::vector<TokenId>& scratch, std::vector<TokenId>& out) const {
  if (spec_->ignore_merges) {
    if (const std::optional<TokenId> whole = WholeWord(word)) return out.push_back(*whole);
  }
  scratch.clear();
  Symbols(word, scratch);
  merges_.Apply(scratch);
  out.insert(out.end(), scratch.begin(), scratch.end());
}

std::optional<TokenId> Bpe::WholeWord(std::string_view word) const {
  if (spec_->kind != TokenizerKind::kByteLevelBpe) return IdOf(word);
  if (word.size() > longest_token_) return std::nullopt;
  std::string spelled;
  for (const char c : word) spelled += alphabet_.Spell(static_cast<uint8_t>(c));
  return IdOf(spelled);
}

void Bpe::Symbols(std::string_view word, std::vector<TokenId>& out) const {
  bool after_unknown = false;
  if (spec_->kind == TokenizerKind::kByteLevelBpe) {
    for (const char c : word) {
      const auto byte = static_cast<uint8_t>(c);
      if (byte_symbols_[byte].has_value()) {
        out.push_back(*byte_symbols_[byte]);
        after_unknown = false;
      } else {
        MissingSymbol(alphabet_.Spell(byte), after_unknown, out);
      }
    }
    return;
  }
  while (!word.empty()) {
    const std::string_view character = word.substr(0, CodePointSize(word[0]));
    word.remove_prefix(character.size());
    if (const std::optional<TokenId> id = IdOf(character)) {
      out.push_back(*id);
      after_unknown = false;
    } else {
      MissingSymbol(character, after_unknown, out);
    }
  }
}

// A character without a token: its bytes' tokens, or the unknown token (once for a run, if the model fuses them), or
// nothing.
void Bpe::MissingSymbol(std::string_view character, bool& after_unknown, std::vector<TokenId>& out) const {
  if (spec_->byte_fallback && FallBackToBytes(character, out)) return;
  if (!spec_->unknown.has_value()) return;
  if (!after_unknown || !spec_->fuse_unknown) out.push_back(*spec_->unknown);
  after_unknown = true;
}

bool Bpe::FallBackToBytes(std::string_view character, std::vector<TokenId>& out) const {
  const auto has_token = [&](char c) { return byte_tokens_[static_cast<uint8_t>(c)].has_value(); };
  if (!std::all_of(character.begin(), character.end(), has_token)) return false;
  for (const char c : character) out.push_back(*byte_tokens_[static_cast<uint8_t>(c)]);
  return true;
}

}  // namespace headstart
