// The regular expressions that well-known model families split text by. tokenizer.json states them, apart from GPT-2's;
// GGUF names the family only.

#ifndef HEADSTART_ENGINE_TEXT_INTERNAL_WELL_KNOWN_H_
#define HEADSTART_ENGINE_TEXT_INTERNAL_WELL_KNOWN_H_

#include <optional>
#include <string_view>
#include <vector>

#include "engine/text/tokenizer_spec.h"

namespace headstart {

inline constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// Every match of the pattern becomes a word, and so does what lies between matches.
PreTokenizerStep SplitStep(std::string_view pattern, SplitBehavior behavior = SplitBehavior::kIsolated);

struct WordRules {
  std::vector<PreTokenizerStep> steps{};
  bool ignore_merges = false;
  bool nfc = false;      // text is normalized to NFC first
  bool add_bos = false;  // unless the file says
};

// What GGUF's `tokenizer.ggml.pre` stands for; none if it is not known.
std::optional<WordRules> WordRulesOf(std::string_view pre);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_TEXT_INTERNAL_WELL_KNOWN_H_
