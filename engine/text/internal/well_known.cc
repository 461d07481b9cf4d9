#include "engine/text/internal/well_known.h"

#include <algorithm>
#include <initializer_list>
#include <string>

namespace headstart {
namespace {

// Llama 3 and those after it; digits by threes.
constexpr std::string_view kLlama3Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";

// The same with single digits.
constexpr std::string_view kQwen2Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";

// Mistral's Tekken splits at a change of case.
constexpr std::string_view kTekkenPattern =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
    R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

bool IsOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

PreTokenizerStep SplitStep(std::string_view pattern, SplitBehavior behavior) {
  return {.kind = PreTokenizerStep::Kind::kSplit,
          .pattern = {.text = std::string(pattern), .is_regex = true},
          .behavior = behavior};
}

std::optional<WordRules> WordRulesOf(std::string_view pre) {
  if (IsOneOf(pre, {"llama-bpe", "llama3", "llama-v3", "pixtral", "falcon3"})) {
    return WordRules{.steps = {SplitStep(kLlama3Pattern)}, .ignore_merges = true, .add_bos = true};
  }
  if (pre == "tekken") return WordRules{.steps = {SplitStep(kTekkenPattern)}, .ignore_merges = true, .add_bos = true};
  if (IsOneOf(pre, {"qwen2", "deepseek-r1-qwen"})) return WordRules{.steps = {SplitStep(kQwen2Pattern)}, .nfc = true};
  if (IsOneOf(pre, {"smollm", "starcoder", "refact", "command-r", "codeshell"})) {
    return WordRules{.steps = {SplitStep("\\p{N}"), SplitStep(kGpt2Pattern)}};
  }
  if (IsOneOf(pre, {"gpt-2", "phi-2", "mpt", "olmo", "jais"})) return WordRules{.steps = {SplitStep(kGpt2Pattern)}};
  if (IsOneOf(pre, {"default", ""})) {  // what converters wrote before they named families
    return WordRules{.steps = {SplitStep("[\\p{P}$+<=>^~|]+"), SplitStep(kGpt2Pattern), SplitStep("\\p{N}+"),
                               SplitStep("[0-9][0-9][0-9]")}};
  }
  return std::nullopt;
}

}  // namespace headstart
