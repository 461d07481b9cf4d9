#include "engine/model/hf_folder.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "engine/model/hf_config.h"
#include "engine/model/json_fields.h"
#include "engine/model/loaded_model.h"
#include "engine/model/model_file.h"
#include "engine/model/safetensors.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace headstart {
namespace {

using nlohmann::json;

constexpr std::string_view kWeights = "model.safetensors";
constexpr std::string_view kWeightsIndex = "model.safetensors.index.json";
// A tokenizer_config.json lists the added tokens, some hundred KiB in models that have thousands.
constexpr size_t kMaxTokenizerConfigBytes = 16 << 20;

// Reads the folder into parts, one kind of file after the other.
class FolderReader {
 public:
  FolderReader(std::shared_ptr<const FileSet> files, const std::string& name) {
    parts_.files = std::move(files);
    parts_.config.name = name;
  }

  absl::StatusOr<std::unique_ptr<ModelSource>> Run() {
    for (const auto step : {&FolderReader::ReadConfig, &FolderReader::ReadWeights, &FolderReader::ReadTokenizer,
                            &FolderReader::ReadChatTemplate}) {
      if (auto status = (this->*step)(); !status.ok()) return status;
    }
    return AssembleModel(std::move(parts_));
  }

 private:
  const FileSet& files() const { return *parts_.files; }

  // Empty when there is no such file.
  absl::StatusOr<std::string_view> OptionalText(std::string_view name) const {
    if (!files().Has(name)) return std::string_view();
    return ReadModelText(files(), name);
  }

  absl::Status ReadConfig() {
    const auto config = ReadModelText(files(), "config.json");
    if (!config.ok()) return config.status();
    const auto generation = OptionalText("generation_config.json");
    if (!generation.ok()) return generation.status();
    auto parsed = ParseHuggingFaceConfig({.config_json = *config,
                                          .config_path = files().PathOf("config.json"),
                                          .generation_config_json = *generation,
                                          .generation_config_path = files().PathOf("generation_config.json")});
    if (!parsed.ok()) return parsed.status();
    parsed->name = std::move(parts_.config.name);
    parts_.config = *std::move(parsed);
    return absl::OkStatus();
  }

  absl::Status ReadWeights() {
    if (files().Has(kWeights)) return ReadShard(kWeights);
    if (files().Has(kWeightsIndex)) return ReadShards();
    const auto names = files().List();
    const bool pytorch =
        std::any_of(names.begin(), names.end(), [](std::string_view n) { return n.ends_with(".bin"); });
    if (!pytorch) {
      return absl::NotFoundError(fmt::format("{} is missing, and so is {}", files().PathOf(kWeights), kWeightsIndex));
    }
    return absl::UnimplementedError(
        fmt::format("{}: the folder has its weights in PyTorch's .bin format, which is not supported; convert them to "
                    "safetensors",
                    files().PathOf("")));
  }

  absl::Status ReadShards() {
    const auto text = ReadModelText(files(), kWeightsIndex);
    if (!text.ok()) return text.status();
    const auto index = ParseSafetensorsIndex(*text, files().PathOf(kWeightsIndex));
    if (!index.ok()) return index.status();
    std::set<std::string_view> shards;
    for (const auto& [tensor, shard] : *index) shards.insert(shard);
    for (const std::string_view shard : shards) {
      if (auto status = ReadShard(shard); !status.ok()) return status;
    }
    return RefuseRepeats();
  }

  absl::Status ReadShard(std::string_view name) {
    parts_.path = files().PathOf(name);
    const auto bytes = ReadModelFile(files(), name);
    if (!bytes.ok()) return bytes.status();
    auto shard = ParseSafetensors(*bytes, parts_.path);
    if (!shard.ok()) return shard.status();
    std::move(shard->tensors.begin(), shard->tensors.end(), std::back_inserter(parts_.tensors));
    parts_.unsupported_tensors.merge(shard->unsupported);
    return absl::OkStatus();
  }

  absl::Status RefuseRepeats() {
    parts_.path = files().PathOf(kWeightsIndex);
    std::set<std::string_view> names;
    for (const TensorView& tensor : parts_.tensors) {
      if (names.insert(tensor.name).second) continue;
      return absl::InvalidArgumentError(
          fmt::format("{}: tensor '{}' lies in more than one of its files", parts_.path, tensor.name));
    }
    return absl::OkStatus();
  }

  absl::Status ReadTokenizer() {
    if (!files().Has("tokenizer.json")) {
      return absl::NotFoundError(
          fmt::format("{} is missing: a model needs its tokenizer in this format", files().PathOf("tokenizer.json")));
    }
    const auto tokenizer = ReadModelText(files(), "tokenizer.json");
    if (!tokenizer.ok()) return tokenizer.status();
    const auto config = OptionalText("tokenizer_config.json");
    if (!config.ok()) return config.status();
    auto spec = ParseTokenizerJson(*tokenizer, *config, files().PathOf("tokenizer.json"));
    if (!spec.ok()) return spec.status();
    parts_.tokenizer = *std::move(spec);
    auto& ids = parts_.config.eos_token_ids;
    if (ids.empty() && parts_.tokenizer.eos.has_value()) ids.push_back(ToIndex(*parts_.tokenizer.eos));
    return absl::OkStatus();
  }

  // Newer folders have the template in a file of its own, older ones in tokenizer_config.json.
  absl::Status ReadChatTemplate() {
    const auto own_file = OptionalText("chat_template.jinja");
    if (!own_file.ok()) return own_file.status();
    parts_.chat_template = *own_file;
    const auto text = OptionalText("tokenizer_config.json");
    if (!text.ok()) return text.status();
    if (!own_file->empty() || text->empty()) return absl::OkStatus();
    const auto root = ParseJsonObject(*text, files().PathOf("tokenizer_config.json"), kMaxTokenizerConfigBytes);
    if (!root.ok()) return root.status();
    const auto found = root->find("chat_template");
    if (found != root->end()) parts_.chat_template = TemplateText(*found);
    return absl::OkStatus();
  }

  // The field is the template, or a list of named ones.
  static std::string TemplateText(const json& field) {
    if (field.is_string()) return field.get<std::string>();
    if (!field.is_array()) return "";
    for (const json& item : field) {
      if (!item.is_object()) continue;
      const auto name = item.find("name");
      const auto text = item.find("template");
      if (name != item.end() && text != item.end() && name->is_string() && *name == "default" && text->is_string())
        return *text;
    }
    return "";
  }

  ModelParts parts_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ModelSource>> OpenHuggingFaceFolder(std::shared_ptr<const FileSet> files,
                                                                   const std::string& name) {
  return FolderReader(std::move(files), name).Run();
}

}  // namespace headstart
