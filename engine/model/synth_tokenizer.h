// The tokenizer of synthetic models: byte-level BPE that encodes any text, split into words as Qwen2 does. Ids 0 to 255
// are the bytes, then come control tokens, a few merged tokens, and made-up words (" w300") up to the vocabulary's
// size.
//
// Thread-safety: pure functions.

#ifndef HEADSTART_ENGINE_MODEL_SYNTH_TOKENIZER_H_
#define HEADSTART_ENGINE_MODEL_SYNTH_TOKENIZER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headstart {

// The smallest vocabulary that holds bytes, control tokens and merged tokens.
inline constexpr int kMinSynthVocabulary = 267;

// "<|endoftext|>", "<|im_start|>", "<|im_end|>"; the first and the last end a generation.
inline constexpr int32_t kSynthEndOfText = 256;
inline constexpr int32_t kSynthTurnStart = 257;
inline constexpr int32_t kSynthTurnEnd = 258;

constexpr bool IsSynthControlToken(int64_t id) { return id >= kSynthEndOfText && id <= kSynthTurnEnd; }

struct SynthTokenizer {
  std::vector<std::string> tokens;  // by id, in GPT-2's byte alphabet
  std::vector<std::string> merges;  // "left right" in order of rank
};

// REQUIRES: vocab_size >= kMinSynthVocabulary.
SynthTokenizer MakeSynthTokenizer(int vocab_size);

// tokenizer.json and tokenizer_config.json.
std::string SynthTokenizerJson(const SynthTokenizer& tokenizer);
std::string SynthTokenizerConfigJson(const SynthTokenizer& tokenizer);

// ChatML, as a Jinja template.
std::string_view SynthChatTemplate();

}  // namespace headstart

#endif  // HEADSTART_ENGINE_MODEL_SYNTH_TOKENIZER_H_
