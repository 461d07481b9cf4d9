#include "tests/engine/text/golden.h"

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "nlohmann/json.hpp"

namespace headstart::testing {
namespace {

using nlohmann::json;

const std::string kFolder = "tests/golden/text/";

json ReadJson(const std::string& path) { return json::parse(ReadFile(path)); }

std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

std::vector<TokenId> IdsOf(const json& ids) { return ToIds(ids.get<std::vector<int>>()); }

json Variant(const std::string& name) {
  for (const json& variant : ReadJson(kFolder + "variants.json")) {
    if (variant["name"] == name) return variant;
  }
  return nullptr;
}

json Vary(json base, const json& variant) {
  for (const auto& [key, value] : variant["set"].items()) {
    if (key == "model") {
      base["model"].update(value);
    } else {
      base[key] = value;
    }
  }
  for (const json& token : variant.value("add", json::array())) base["added_tokens"].push_back(token);
  return base;
}

}  // namespace

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::vector<std::string> ReadCorpus() {
  std::vector<std::string> corpus;
  for (const json& entry : ReadJson(kFolder + "corpus.json")) {
    corpus.push_back(entry.is_string() ? entry.get<std::string>() : FromHex(entry["hex"]));
  }
  return corpus;
}

Goldens ReadGoldens(const std::string& path) {
  const json document = ReadJson(path);
  Goldens goldens;
  goldens.stride = document["stride"];
  for (const json& ids : document["ids"]) goldens.ids.push_back(IdsOf(ids));
  for (const auto& [index, ids] : document["plain"].items()) goldens.plain[std::stoul(index)] = IdsOf(ids);
  for (const auto& [index, text] : document["decoded"].items()) goldens.decoded[std::stoul(index)] = text;
  for (const json& entry : document["sequences"]) goldens.sequences.push_back({IdsOf(entry[0]), entry[1], entry[2]});
  return goldens;
}

std::vector<std::string> GoldenNames() {
  std::vector<std::string> names = {"qwen3", "llama2"};
  for (const json& variant : ReadJson(kFolder + "variants.json")) names.push_back(variant["name"]);
  return names;
}

GoldenCase ReadGoldenCase(const std::string& name) {
  const json variant = Variant(name);
  if (variant.is_null()) {
    return {name, ReadFile(kFolder + name + ".tokenizer.json"), kFolder + name + ".goldens.json"};
  }
  const json base = ReadJson(kFolder + variant["base"].get<std::string>() + ".tokenizer.json");
  return {name, Vary(base, variant).dump(), kFolder + "variants/" + name + ".goldens.json"};
}

absl::StatusOr<std::unique_ptr<const Tokenizer>> MakeTokenizer(const std::string& tokenizer_json,
                                                               const std::string& config_json) {
  absl::StatusOr<TokenizerSpec> spec = ParseTokenizerJson(tokenizer_json, config_json, "tokenizer.json");
  if (!spec.ok()) return spec.status();
  return Tokenizer::Create(*spec);
}

std::vector<TokenId> ToIds(const std::vector<int>& ids) {
  std::vector<TokenId> tokens;
  for (const int id : ids) tokens.push_back(TokenId{id});
  return tokens;
}

}  // namespace headstart::testing
