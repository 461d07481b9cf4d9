#include "engine/text/tokenizer.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "engine/text/internal/added_tokens.h"
#include "engine/text/internal/bpe.h"
#include "engine/text/internal/byte_alphabet.h"
#include "engine/text/internal/marked_text.h"
#include "engine/text/internal/normalizer.h"
#include "engine/text/internal/pre_tokenizer.h"
#include "engine/text/internal/replace.h"
#include "engine/text/utf8.h"
#include "fmt/format.h"

namespace headstart {
namespace {

MarkedText Repair(std::string_view text, std::span<const TextRange> marks) {
  TextEditor editor({std::string(text), {marks.begin(), marks.end()}});
  while (true) {
    editor.Keep(ValidUtf8Prefix(editor.rest()));
    if (editor.rest().empty()) return std::move(editor).Finish();
    editor.Replace(ReadUtf8Unit(editor.rest()).size, kReplacementCharacter);
  }
}

// The byte that a token "<0xNN>" stands for.
std::optional<char> ByteOf(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token.back() != '>') return std::nullopt;
  uint8_t byte = 0;
  const char* end = token.data() + 5;
  if (std::from_chars(token.data() + 3, end, byte, 16).ptr != end) return std::nullopt;
  return static_cast<char>(byte);
}

std::string DecodedToken(const TokenizerSpec& spec, const ByteAlphabet& alphabet, const std::string& text) {
  if (spec.kind == TokenizerKind::kByteLevelBpe) return alphabet.Bytes(text).value_or(text);
  std::string decoded = text;
  for (const DecoderSpec::Replacement& each : spec.decoder.replacements)
    decoded = ReplaceAll(decoded, each.from, each.to);
  const std::optional<char> byte = spec.decoder.byte_fallback ? ByteOf(decoded) : std::nullopt;
  return byte.has_value() ? std::string(1, *byte) : decoded;
}

absl::Status CheckId(TokenId id, const TokenizerSpec& spec, std::string_view what) {
  if (ToIndex(id) >= 0 && static_cast<size_t>(ToIndex(id)) < spec.vocabulary.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("tokenizer: {} has the id {}, outside the vocabulary of {}", what,
                                                ToIndex(id), spec.vocabulary.size()));
}

absl::Status CheckIds(const TokenizerSpec& spec) {
  absl::Status status;
  for (const AddedToken& token : spec.added_tokens) status.Update(CheckId(token.id, spec, "an added token"));
  for (const TokenId token : spec.prefix_tokens) status.Update(CheckId(token, spec, "a token before the text"));
  for (const TokenId token : spec.suffix_tokens) status.Update(CheckId(token, spec, "a token after the text"));
  if (spec.unknown.has_value()) status.Update(CheckId(*spec.unknown, spec, "the unknown token"));
  return status;
}

absl::Status CheckSpec(const TokenizerSpec& spec) {
  if (!spec.scores.empty() && spec.scores.size() != spec.vocabulary.size()) {
    return absl::InvalidArgumentError(
        fmt::format("tokenizer: {} scores for a vocabulary of {}", spec.scores.size(), spec.vocabulary.size()));
  }
  for (const DecoderSpec::Replacement& each : spec.decoder.replacements) {
    if (each.from.empty()) return absl::InvalidArgumentError("tokenizer: the decoder replaces an empty text");
  }
  return CheckIds(spec);
}

// The added tokens that are matched in text as it is, or in normalized text.
AddedTokens Select(const std::vector<AddedToken>& tokens, bool normalized) {
  std::vector<AddedToken> selected;
  for (const AddedToken& token : tokens) {
    if (token.normalized == normalized) selected.push_back(token);
  }
  return AddedTokens(std::move(selected));
}

std::vector<AddedToken> NormalizedTexts(std::vector<AddedToken> tokens, const Normalizer& normalizer) {
  for (AddedToken& token : tokens) {
    if (token.normalized) token.text = normalizer.Apply({std::move(token.text), {}}).text;
  }
  return tokens;
}

class BpeTokenizer final : public Tokenizer {
 public:
  struct Parts {
    std::unique_ptr<const TokenizerSpec> spec;  // on the heap: bpe points to it
    Normalizer normalizer;
    PreTokenizer pre_tokenizer;
    Bpe bpe;
  };

  explicit BpeTokenizer(Parts parts)
      : parts_(std::move(parts)),
        added_(Select(spec().added_tokens, false)),
        normalized_added_(Select(NormalizedTexts(spec().added_tokens, parts_.normalizer), true)),
        is_special_(spec().vocabulary.size()) {
    for (const AddedToken& token : spec().added_tokens) is_special_[ToIndex(token.id)] = token.special;
    const ByteAlphabet alphabet;
    for (const std::string& text : spec().vocabulary) decoded_.push_back(DecodedToken(spec(), alphabet, text));
  }

  std::vector<TokenId> Encode(std::string_view text, const EncodeOptions& options) const override;

  std::string TokenBytes(TokenId token, bool with_special) const override {
    const auto index = static_cast<size_t>(ToIndex(token));
    if (index >= decoded_.size() || (is_special_[index] && !with_special)) return "";
    return decoded_[index];
  }

  int vocab_size() const override { return static_cast<int>(decoded_.size()); }
  bool IsSpecial(TokenId token) const override {
    const auto index = static_cast<size_t>(ToIndex(token));
    return index < is_special_.size() && is_special_[index];
  }
  const TokenizerSpec& spec() const override { return *parts_.spec; }

 private:
  void EncodeText(const MarkedText& text, bool parse_special, std::vector<TokenId>& out) const;
  void EncodeNormalized(const MarkedText& text, bool at_start, bool parse_special, std::vector<TokenId>& out) const;
  void EncodeWords(std::string_view text, bool at_start, std::vector<TokenId>& out) const;

  Parts parts_;
  AddedTokens added_;
  AddedTokens normalized_added_;
  std::vector<bool> is_special_;
  std::vector<std::string> decoded_;
};

std::vector<TokenId> BpeTokenizer::Encode(std::string_view text, const EncodeOptions& options) const {
  std::vector<TokenId> ids;
  if (options.add_special_tokens) ids = spec().prefix_tokens;
  const auto literal = options.parse_special ? options.literal : std::span<const TextRange>();
  EncodeText(Repair(text, literal), options.parse_special, ids);
  if (options.add_special_tokens) ids.insert(ids.end(), spec().suffix_tokens.begin(), spec().suffix_tokens.end());
  return ids;
}

void BpeTokenizer::EncodeText(const MarkedText& text, bool parse_special, std::vector<TokenId>& out) const {
  for (const Segment& segment : added_.Cut(text.text, parse_special, text.marks)) {
    if (segment.token.has_value()) {
      out.push_back(*segment.token);
      continue;
    }
    const size_t size = segment.end - segment.begin;
    MarkedText part{text.text.substr(segment.begin, size), MarksWithin(text.marks, segment.begin, segment.end)};
    EncodeNormalized(parts_.normalizer.Apply(std::move(part)), segment.begin == 0, parse_special, out);
  }
}

void BpeTokenizer::EncodeNormalized(const MarkedText& text, bool at_start, bool parse_special,
                                    std::vector<TokenId>& out) const {
  for (const Segment& segment : normalized_added_.Cut(text.text, parse_special, text.marks)) {
    if (segment.token.has_value()) {
      out.push_back(*segment.token);
    } else {
      const std::string_view part = std::string_view(text.text).substr(segment.begin, segment.end - segment.begin);
      EncodeWords(part, at_start && segment.begin == 0, out);
    }
  }
}

void BpeTokenizer::EncodeWords(std::string_view text, bool at_start, std::vector<TokenId>& out) const {
  std::vector<TokenId> scratch;
  const Words words = parts_.pre_tokenizer.Split(text, at_start);
  for (const Words::Word& word : words.words) parts_.bpe.Encode(word.text, scratch, out);
}

}  // namespace

absl::StatusOr<std::unique_ptr<const Tokenizer>> Tokenizer::Create(const TokenizerSpec& spec) {
  if (absl::Status status = CheckSpec(spec); !status.ok()) return status;
  auto own_spec = std::make_unique<const TokenizerSpec>(spec);
  absl::StatusOr<Normalizer> normalizer = Normalizer::Create(own_spec->normalizers);
  if (!normalizer.ok()) return normalizer.status();
  absl::StatusOr<PreTokenizer> pre_tokenizer = PreTokenizer::Create(own_spec->pre_tokenizers);
  if (!pre_tokenizer.ok()) return pre_tokenizer.status();
  absl::StatusOr<Bpe> bpe = Bpe::Create(*own_spec);
  if (!bpe.ok()) return bpe.status();
  return std::make_unique<const BpeTokenizer>(
      BpeTokenizer::Parts{std::move(own_spec), *std::move(normalizer), *std::move(pre_tokenizer), *std::move(bpe)});
}

std::string Tokenizer::Decode(std::span<const TokenId> tokens, bool with_special) const {
  Detokenizer detokenizer(*this, with_special);
  std::string text;
  for (const TokenId token : tokens) text += detokenizer.Push(token);
  return text += detokenizer.Finish();
}

}  // namespace headstart
