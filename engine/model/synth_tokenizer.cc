#include "engine/model/synth_tokenizer.h"

#include <utility>

#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace headstart {
namespace {

using nlohmann::json;

// How Qwen2 splits text into words; GGUF files call it "qwen2".
constexpr std::string_view kQwen2Split =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr std::pair<std::string_view, std::string_view> kMerges[] = {
    {"Ġ", "t"}, {"h", "e"}, {"i", "n"}, {"Ġ", "a"}, {"Ġt", "he"}, {"e", "r"}, {"o", "n"}, {"r", "e"},
};

std::string Utf8(int code_point) {  // of at most two bytes
  if (code_point < 0x80) return std::string(1, static_cast<char>(code_point));
  return {static_cast<char>(0xc0 | code_point >> 6), static_cast<char>(0x80 | (code_point & 0x3f))};
}

// GPT-2's alphabet: printable bytes stand for themselves, the others for the code points from 256 on.
std::vector<std::string> ByteAlphabet() {
  std::vector<std::string> alphabet;
  int next = 256;
  for (int byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    alphabet.push_back(Utf8(printable ? byte : next++));
  }
  return alphabet;
}

json AddedToken(int32_t id, const std::string& text) {
  return {{"id", id},        {"content", text},     {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", true}};
}

}  // namespace

SynthTokenizer MakeSynthTokenizer(int vocab_size) {
  SynthTokenizer tokenizer{.tokens = ByteAlphabet(), .merges = {}};
  auto& tokens = tokenizer.tokens;
  for (const char* control : {"<|endoftext|>", "<|im_start|>", "<|im_end|>"}) tokens.push_back(control);
  for (const auto& [left, right] : kMerges) {
    tokenizer.merges.push_back(fmt::format("{} {}", left, right));
    tokens.push_back(fmt::format("{}{}", left, right));
  }
  while (std::ssize(tokens) < vocab_size) tokens.push_back(fmt::format("Ġw{}", tokens.size()));
  return tokenizer;
}

std::string SynthTokenizerJson(const SynthTokenizer& tokenizer) {
  json vocabulary = json::object();
  json added = json::array();
  for (size_t i = 0; i < tokenizer.tokens.size(); ++i) {
    const auto id = static_cast<int32_t>(i);
    vocabulary[tokenizer.tokens[i]] = id;  // control tokens, too: the reference gives others ids past the vocabulary
    if (IsSynthControlToken(id)) added.push_back(AddedToken(id, tokenizer.tokens[i]));
  }
  const json byte_level = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", false}, {"use_regex", false}};
  const json split = {
      {"type", "Split"}, {"pattern", {{"Regex", kQwen2Split}}}, {"behavior", "Isolated"}, {"invert", false}};
  json merges = json::array();
  for (const std::string& merge : tokenizer.merges) merges.push_back(merge);
  const json root = {
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens", added},
      {"normalizer", {{"type", "NFC"}}},
      {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", json::array({split, byte_level})}}},
      {"post_processor", byte_level},
      {"decoder", byte_level},
      {"model",
       {{"type", "BPE"},
        {"dropout", nullptr},
        {"unk_token", nullptr},
        {"continuing_subword_prefix", ""},
        {"end_of_word_suffix", ""},
        {"fuse_unk", false},
        {"byte_fallback", false},
        {"ignore_merges", false},
        {"vocab", std::move(vocabulary)},
        {"merges", std::move(merges)}}},
  };
  return root.dump();
}

std::string SynthTokenizerConfigJson(const SynthTokenizer& tokenizer) {
  const json root = {
      {"tokenizer_class", "PreTrainedTokenizerFast"},
      {"add_bos_token", false},
      {"add_prefix_space", false},
      {"bos_token", nullptr},
      {"eos_token", tokenizer.tokens[kSynthTurnEnd]},
      {"pad_token", tokenizer.tokens[kSynthEndOfText]},
      {"clean_up_tokenization_spaces", false},
      {"chat_template", SynthChatTemplate()},
  };
  return root.dump(2);
}

std::string_view SynthChatTemplate() {
  return "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' "
         "+ "
         "'\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";
}

}  // namespace headstart
