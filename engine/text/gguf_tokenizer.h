// A tokenizer from GGUF metadata: the plain values under `tokenizer.ggml.*`, and the TokenizerSpec they stand for.
//
// Thread-safety: plain values and a pure function.
// Errors: INVALID_ARGUMENT for lists that do not fit together; UNIMPLEMENTED for a `model` or `pre` that is not known.
// Both name the metadata key.
//
//   GgufTokenizerMetadata metadata{.model = "gpt2", .pre = "qwen2", .tokens = ..., .merges = ...};
//   absl::StatusOr<TokenizerSpec> spec = TokenizerSpecFromGguf(metadata);

#ifndef HEADSTART_ENGINE_TEXT_GGUF_TOKENIZER_H_
#define HEADSTART_ENGINE_TEXT_GGUF_TOKENIZER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/text/tokenizer_spec.h"

namespace headstart {

// Each field is the metadata key `tokenizer.ggml.<field>` unless said; a key that the file lacks leaves the default.
struct GgufTokenizerMetadata {
  std::string model{};  // "gpt2" (byte-level BPE) or "llama" (SentencePiece BPE)
  std::string pre{};    // how text is split into words: "llama-bpe", "qwen2", "smollm", "gpt-2", "default", ...
  std::vector<std::string> tokens{};   // by id
  std::vector<float> scores{};         // by id, or empty
  std::vector<int32_t> token_types{};  // `token_type`, by id, or empty: values of GgufTokenType
  std::vector<std::string> merges{};   // "left right" in order of rank, or empty
  std::optional<uint32_t> bos_token_id{};
  std::optional<uint32_t> eos_token_id{};
  std::optional<uint32_t> unknown_token_id{};
  std::optional<bool> add_bos_token{};
  std::optional<bool> add_eos_token{};
  std::optional<bool> add_space_prefix{};
};

// What GGUF's `tokenizer.ggml.token_type` says of a token.
enum class GgufTokenType : int32_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6,
};

absl::StatusOr<TokenizerSpec> TokenizerSpecFromGguf(const GgufTokenizerMetadata& metadata);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_TEXT_GGUF_TOKENIZER_H_
