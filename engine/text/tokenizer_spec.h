// TokenizerSpec: a tokenizer's data, free of the file format it came from. tokenizer.json and GGUF metadata both become
// one.
//
// A text passes through it in this order: added tokens that are matched in the text as it is, normalizers, added tokens
// that are matched in normalized text, pre-tokenizers (which split it into words), and byte-pair merges within each
// word.
//
// Thread-safety: plain values and pure functions.

#ifndef HEADSTART_ENGINE_TEXT_TOKENIZER_SPEC_H_
#define HEADSTART_ENGINE_TEXT_TOKENIZER_SPEC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "prefix_store/types.h"

namespace headstart {

enum class TokenizerKind {
  kByteLevelBpe,   // GPT-2's byte alphabet, then merges by rank
  kSentencePiece,  // SentencePiece-style BPE: spaces as U+2581, merges by score or rank, bytes as <0xNN> fallback
};

struct AddedToken {
  TokenId id{};
  std::string text{};
  bool special = false;      // a control token: never produced by ordinary text unless asked
  bool single_word = false;  // only where no word character touches it
  bool left_strip = false;   // takes the white space before it
  bool right_strip = false;  // takes the white space after it
  bool normalized = false;   // matched in normalized text, and itself normalized
};

// What to look for in text: a literal string, or a regular expression in Oniguruma's syntax as tokenizer files have it.
struct TextPattern {
  std::string text{};
  bool is_regex = false;
};

// One change to the text before it is split.
struct NormalizerStep {
  enum class Kind {
    kNfc,
    kNfd,
    kNfkc,
    kNfkd,
    kPrepend,     // puts `content` in front of text that is not empty
    kReplace,     // each match of `pattern` becomes `content`
    kStripLeft,   // drops white space at the start
    kStripRight,  // drops white space at the end
  };
  Kind kind = Kind::kNfc;
  TextPattern pattern{};
  std::string content{};
};

// What becomes of the matches of a split.
enum class SplitBehavior { kIsolated, kRemoved, kMergedWithPrevious, kMergedWithNext, kContiguous };

// Which words a prefix goes before: all that do not begin with it already, or only the one at the start of the text.
enum class PrefixScheme { kNever, kFirst, kAlways };

// One step of splitting text into words.
struct PreTokenizerStep {
  enum class Kind {
    kSplit,      // by `pattern`, `invert` and `behavior`
    kPrefix,     // puts `content` before words, as `scheme` says
    kMetaspace,  // each space becomes `content`; then kPrefix; then, with `split`, a word begins at each `content`
  };
  Kind kind = Kind::kSplit;
  TextPattern pattern{};
  SplitBehavior behavior = SplitBehavior::kIsolated;
  bool invert = false;  // what lies between the matches counts as the matches
  std::string content{};
  PrefixScheme scheme = PrefixScheme::kNever;
  bool split = true;
};

// How tokens become text again, once byte-level tokens are bytes.
struct DecoderSpec {
  struct Replacement {
    std::string from{};
    std::string to{};
  };
  std::vector<Replacement> replacements{};  // within each token, in order
  bool byte_fallback = false;               // <0xNN> is a byte
  int strip_leading_spaces = 0;             // at most so many spaces go from the start of the text
  std::string drop_in_first_token{};        // every such string goes from the first token (Metaspace)
};

struct TokenizerSpec {
  TokenizerKind kind = TokenizerKind::kByteLevelBpe;

  // Each id's text as the file spells it (byte-level alphabet, or pieces with U+2581), added tokens included; ids
  // without a token are empty.
  std::vector<std::string> vocabulary{};

  // Pairs in order of rank; what they make is their concatenation. Empty for a SentencePiece model with scores.
  struct Merge {
    std::string left{};
    std::string right{};
  };
  std::vector<Merge> merges{};
  std::vector<float> scores{};  // per id, SentencePiece from GGUF: the pair that makes the best-scored token goes first

  std::vector<AddedToken> added_tokens{};
  std::vector<NormalizerStep> normalizers{};
  std::vector<PreTokenizerStep> pre_tokenizers{};
  DecoderSpec decoder{};

  bool ignore_merges = false;        // a word that is a token is taken whole
  bool byte_fallback = false;        // a character without a token becomes its bytes' tokens <0xNN>
  bool fuse_unknown = false;         // a run of unknown characters is one unknown token
  std::optional<TokenId> unknown{};  // without it, an unknown character vanishes

  std::optional<TokenId> bos{};
  std::optional<TokenId> eos{};

  // What Encode puts around the text when asked to add special tokens: what the reference's post-processor adds.
  std::vector<TokenId> prefix_tokens{};
  std::vector<TokenId> suffix_tokens{};
};

// Reads tokenizer.json and, where given, tokenizer_config.json (which token is BOS and EOS, and for the Llama and Gemma
// classes whether they are added; for all others tokenizer.json's post-processor alone says so). `path` is for
// messages. Errors: INVALID_ARGUMENT for what is malformed, UNIMPLEMENTED for what Headstart does not know, naming the
// field.
absl::StatusOr<TokenizerSpec> ParseTokenizerJson(std::string_view tokenizer_json,
                                                 std::string_view tokenizer_config_json, std::string_view path);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_TEXT_TOKENIZER_SPEC_H_
