// TokenizerSpec: a tokenizer's data, free of the file format it came from. tokenizer.json and GGUF metadata both become one.
//
// Thread-safety: a plain value.

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
  kByteLevelBpe,    // GPT-2's byte alphabet, then merges by rank
  kSentencePiece,   // SentencePiece-style BPE: spaces as U+2581, merges by score or rank, bytes as <0xNN> fallback
};

struct AddedToken {
  TokenId id{};
  std::string text;
  bool special = false;      // a control token: never produced by ordinary text unless asked
  bool single_word = false;
  bool left_strip = false;
  bool right_strip = false;
  bool normalized = false;
};

struct TokenizerSpec {
  TokenizerKind kind = TokenizerKind::kByteLevelBpe;

  // Each id's text as the file spells it (byte-level alphabet, or pieces with U+2581); ids without a token are empty.
  std::vector<std::string> vocabulary;

  // Pairs in order of rank; what they make is their concatenation. Empty for a SentencePiece model with scores.
  struct Merge {
    std::string left;
    std::string right;
  };
  std::vector<Merge> merges;
  std::vector<float> scores;  // per id, SentencePiece from GGUF

  std::vector<AddedToken> added_tokens;

  // Regular expressions that split text before BPE, applied one after the other (byte-level BPE).
  struct Split {
    std::string pattern;     // PCRE syntax
    bool invert = false;     // the matches are separators removed from... kept as the file's `invert` says
  };
  std::vector<Split> splits;

  bool ignore_merges = false;      // a piece that is a token is taken whole
  bool add_prefix_space = false;   // before the first word
  bool byte_fallback = false;
  std::optional<TokenId> unknown;
  std::vector<std::string> normalizers;  // in order: "NFC", "NFKC", "Prepend:▁", "Replace: →▁" and so on

  std::optional<TokenId> bos;
  std::optional<TokenId> eos;
  bool add_bos = false;  // Encode puts bos first when asked to add special tokens
  bool add_eos = false;
};

// Reads tokenizer.json and, where given, tokenizer_config.json (BOS/EOS rules). Errors: INVALID_ARGUMENT or UNIMPLEMENTED in
// one sentence naming the field. `path` is for messages.
absl::StatusOr<TokenizerSpec> ParseTokenizerJson(std::string_view tokenizer_json, std::string_view tokenizer_config_json,
                                                 std::string_view path);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_TEXT_TOKENIZER_SPEC_H_
