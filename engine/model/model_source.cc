#include "engine/model/model_source.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "engine/model/file_set.h"
#include "engine/model/gguf.h"
#include "engine/model/gguf_config.h"
#include "engine/model/hf_folder.h"
#include "engine/model/loaded_model.h"
#include "engine/model/model_file.h"
#include "fmt/format.h"

namespace headstart {
namespace {

constexpr size_t kMaxListedFiles = 8;  // enough to recognise a folder by

std::string Describe(const std::vector<std::string>& names) {
  if (names.empty()) return "no files";
  const size_t shown = std::min(names.size(), kMaxListedFiles);
  const std::string list =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<ptrdiff_t>(shown), ", "));
  return shown == names.size() ? list : fmt::format("{} and {} more", list, names.size() - shown);
}

absl::StatusOr<std::unique_ptr<ModelSource>> OpenGguf(std::shared_ptr<const FileSet> files,
                                                      const std::string& file_name) {
  const std::string path = files->PathOf(file_name);
  const auto bytes = ReadModelFile(*files, file_name);
  if (!bytes.ok()) return bytes.status();
  auto gguf = GgufFile::Parse(*bytes, path);
  if (!gguf.ok()) return gguf.status();
  auto config = ReadGgufConfig(*gguf);
  if (!config.ok()) return config.status();
  auto tokenizer = ReadGgufTokenizer(*gguf);
  if (!tokenizer.ok()) return tokenizer.status();
  auto chat_template = ReadGgufChatTemplate(*gguf);
  if (!chat_template.ok()) return chat_template.status();
  if (config->name.empty()) config->name = std::filesystem::path(file_name).stem().string();
  return AssembleModel({.files = std::move(files),
                        .path = path,
                        .format = ModelFormat::kGguf,
                        .config = *std::move(config),
                        .tokenizer = *std::move(tokenizer),
                        .chat_template = *std::move(chat_template),
                        .tensors = gguf->tensors(),
                        .unsupported_tensors = {}});
}

std::string FolderName(const std::filesystem::path& folder) {
  const auto absolute = std::filesystem::absolute(folder).lexically_normal();
  return (absolute.has_filename() ? absolute : absolute.parent_path()).filename().string();
}

bool LooksLikeGguf(const std::filesystem::path& path) { return path.extension() == ".gguf"; }

}  // namespace

absl::StatusOr<std::unique_ptr<ModelSource>> OpenModel(std::shared_ptr<const FileSet> files, const std::string& name) {
  if (files->Has("config.json")) return OpenHuggingFaceFolder(std::move(files), name);
  const std::vector<std::string> names = files->List();
  std::vector<std::string> ggufs;
  std::copy_if(names.begin(), names.end(), std::back_inserter(ggufs), LooksLikeGguf);
  if (ggufs.size() == 1) return OpenGguf(std::move(files), ggufs.front());
  if (ggufs.size() > 1) {
    return absl::InvalidArgumentError(fmt::format("{}: holds several models; name one of {}", name, Describe(ggufs)));
  }
  return absl::NotFoundError(fmt::format("{}: not a model folder: it has neither config.json nor a .gguf file, but {}",
                                         name, Describe(names)));
}

absl::StatusOr<std::unique_ptr<ModelSource>> OpenModel(const std::string& path) {
  if (path.empty()) return absl::InvalidArgumentError("no model is named: give the path of a folder or a .gguf file");
  std::error_code error;
  const std::filesystem::path place(path);
  const auto type = std::filesystem::status(place, error).type();
  if (type == std::filesystem::file_type::directory) {
    auto files = MappedFolder(path);
    if (files->Has("config.json")) return OpenHuggingFaceFolder(std::move(files), FolderName(place));
    return OpenModel(std::move(files), path);
  }
  if (type == std::filesystem::file_type::not_found) {
    return absl::NotFoundError(fmt::format("{}: no such file or folder", path));
  }
  if (!LooksLikeGguf(place)) {
    return absl::InvalidArgumentError(
        fmt::format("{}: a model is a .gguf file, or the folder that holds config.json", path));
  }
  const std::string folder = place.has_parent_path() ? place.parent_path().string() : ".";
  return OpenGguf(MappedFolder(folder), place.filename().string());
}

}  // namespace headstart
