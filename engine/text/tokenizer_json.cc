#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "engine/text/internal/json_view.h"
#include "engine/text/internal/tokenizer_json_steps.h"
#include "engine/text/tokenizer_spec.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace headstart {
namespace {

// Eight times the largest vocabulary in use (262,144): an id beyond it is a fault, not a reason to allocate.
constexpr int64_t kMaxVocabulary = 2'097'152;

using Ids = absl::flat_hash_map<std::string, TokenId>;

struct Vocabulary {
  Ids ids;
  std::vector<std::string> texts;
};

void Place(TokenId id, std::string_view text, std::vector<std::string>& texts) {
  const auto index = static_cast<size_t>(ToIndex(id));
  if (index >= texts.size()) texts.resize(index + 1);
  texts[index] = text;
}

Vocabulary ReadVocabulary(const JsonView& field) {
  Vocabulary vocabulary;
  for (const auto& [text, value] : field.Object()) {
    const int64_t id = value.Integer();
    if (id >= kMaxVocabulary) {
      value.Invalid(fmt::format("is {}, more than the greatest id supported, {}", id, kMaxVocabulary - 1));
      break;
    }
    vocabulary.ids.emplace(text, TokenId{static_cast<int32_t>(id)});
    Place(TokenId{static_cast<int32_t>(id)}, text, vocabulary.texts);
  }
  return vocabulary;
}

// "left right", or in newer files ["left", "right"].
TokenizerSpec::Merge ReadMerge(const JsonView& field) {
  if (field.is_array()) {
    const std::vector<JsonView> pair = field.Array();
    if (pair.size() == 2) return {pair[0].String(), pair[1].String()};
  } else {
    const std::string text = field.String();
    const size_t space = text.find(' ');
    if (space != std::string::npos) return {text.substr(0, space), text.substr(space + 1)};
  }
  field.Invalid("is not a pair of tokens");
  return {};
}

void RefuseSubwordMarks(const JsonView& model) {
  for (const std::string_view key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!model[key].StringOr("").empty()) model[key].Unimplemented("is not supported");
  }
  if (!model["dropout"].is_null()) model["dropout"].Unimplemented("is for training, expected null");
}

void ReadModel(const JsonView& model, const Ids& ids, TokenizerSpec& spec) {
  RefuseSubwordMarks(model);
  for (const JsonView& merge : model["merges"].Array()) spec.merges.push_back(ReadMerge(merge));
  spec.ignore_merges = model["ignore_merges"].BoolOr(false);
  spec.byte_fallback = model["byte_fallback"].BoolOr(false);
  spec.fuse_unknown = model["fuse_unk"].BoolOr(false);
  const std::string unknown = model["unk_token"].StringOr("");
  if (unknown.empty()) return;
  if (const auto it = ids.find(unknown); it != ids.end()) {
    spec.unknown = it->second;
  } else {
    model["unk_token"].Invalid(fmt::format("'{}' is not in the vocabulary", unknown));
  }
}

AddedToken ReadAddedToken(const JsonView& field) {
  return {.text = field["content"].String(),
          .special = field["special"].BoolOr(false),
          .single_word = field["single_word"].BoolOr(false),
          .left_strip = field["lstrip"].BoolOr(false),
          .right_strip = field["rstrip"].BoolOr(false),
          .normalized = field["normalized"].BoolOr(true)};
}

// An added token that the model has keeps the model's id; others follow the vocabulary, in the file's order. The id
// that the file states is not what counts: the reference does not look at it either.
class AddedTokenReader {
 public:
  AddedTokenReader(Ids ids, TokenizerSpec& spec)
      : ids_(std::move(ids)), next_(static_cast<int32_t>(ids_.size())), spec_(spec) {}

  void Read(const JsonView& field) {
    AddedToken token = ReadAddedToken(field);
    if (token.text.empty()) return;
    const auto [it, is_new] = ids_.try_emplace(token.text, TokenId{next_});
    if (is_new) Place(it->second, token.text, spec_.vocabulary);
    token.id = it->second;
    next_ = std::max(next_, ToIndex(token.id) + 1);
    Store(std::move(token));
  }

  const Ids& ids() const { return ids_; }

 private:
  // The last word on a token counts.
  void Store(AddedToken token) {
    const auto same = [&](const AddedToken& other) { return other.id == token.id; };
    const auto it = std::find_if(spec_.added_tokens.begin(), spec_.added_tokens.end(), same);
    if (it == spec_.added_tokens.end()) {
      spec_.added_tokens.push_back(std::move(token));
    } else {
      *it = std::move(token);
    }
  }

  Ids ids_;
  int32_t next_;
  TokenizerSpec& spec_;
};

// A token's text in tokenizer_config.json: a string, or an object that has it as `content`.
std::optional<TokenId> ReadConfigToken(const JsonView& field, const Ids& ids) {
  const std::string text = field.is_object() ? field["content"].String() : field.StringOr("");
  const auto it = ids.find(text);
  return it == ids.end() ? std::nullopt : std::optional(it->second);
}

// These classes build their own post-processor from two flags.
bool HasOwnRules(std::string_view tokenizer_class) {
  return tokenizer_class.starts_with("Llama") || tokenizer_class.starts_with("CodeLlama") ||
         tokenizer_class.starts_with("Gemma");
}

std::vector<TokenId> OneIf(bool wanted, std::optional<TokenId> token) {
  return wanted && token.has_value() ? std::vector<TokenId>{*token} : std::vector<TokenId>();
}

void ReadConfig(const JsonView& config, const Ids& ids, TokenizerSpec& spec) {
  spec.bos = ReadConfigToken(config["bos_token"], ids);
  spec.eos = ReadConfigToken(config["eos_token"], ids);
  if (!HasOwnRules(config["tokenizer_class"].StringOr(""))) return;
  const JsonView add_bos = config["add_bos_token"];
  const JsonView add_eos = config["add_eos_token"];
  if (!add_bos.is_null()) spec.prefix_tokens = OneIf(add_bos.BoolOr(false), spec.bos);
  if (!add_eos.is_null()) spec.suffix_tokens = OneIf(add_eos.BoolOr(false), spec.eos);
}

absl::StatusOr<nlohmann::json> ParseObject(std::string_view text, std::string_view what) {
  nlohmann::json document = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (document.is_object()) return document;
  return absl::InvalidArgumentError(fmt::format("{} is not a JSON object", what));
}

void ReadTokenizer(const JsonView& root, AddedTokenReader& added, TokenizerSpec& spec) {
  ReadModel(root["model"], added.ids(), spec);
  for (const JsonView& token : root["added_tokens"].ArrayOrEmpty()) added.Read(token);
  ReadNormalizer(root["normalizer"], spec);
  ReadPreTokenizer(root["pre_tokenizer"], spec);
  ReadPostProcessor(root["post_processor"], spec);
  ReadDecoder(root["decoder"], spec);
  if (!spec.prefix_tokens.empty()) spec.bos = spec.prefix_tokens.front();
}

absl::StatusOr<TokenizerSpec> Parse(std::string_view tokenizer_json, std::string_view config_json) {
  absl::StatusOr<nlohmann::json> document = ParseObject(tokenizer_json, "the file");
  if (!document.ok()) return document.status();
  absl::Status status;
  const JsonView root(*document, "", status);
  if (const std::string type = root["model"]["type"].StringOr("BPE"); type != "BPE") {
    return absl::UnimplementedError(fmt::format("model.type is '{}', expected BPE", type));
  }
  TokenizerSpec spec;
  Vocabulary vocabulary = ReadVocabulary(root["model"]["vocab"]);
  if (!status.ok()) return status;
  spec.vocabulary = std::move(vocabulary.texts);
  AddedTokenReader added(std::move(vocabulary.ids), spec);
  ReadTokenizer(root, added, spec);
  if (!status.ok()) return status;
  if (config_json.empty()) return spec;
  absl::StatusOr<nlohmann::json> config = ParseObject(config_json, "tokenizer_config.json beside it");
  if (!config.ok()) return config.status();
  ReadConfig(JsonView(*config, "tokenizer_config.json:", status), added.ids(), spec);
  if (!status.ok()) return status;
  return spec;
}

}  // namespace

absl::StatusOr<TokenizerSpec> ParseTokenizerJson(std::string_view tokenizer_json,
                                                 std::string_view tokenizer_config_json, std::string_view path) {
  absl::StatusOr<TokenizerSpec> spec = Parse(tokenizer_json, tokenizer_config_json);
  if (spec.ok()) return spec;
  return absl::Status(spec.status().code(), fmt::format("{}: {}", path, std::string(spec.status().message())));
}

}  // namespace headstart
