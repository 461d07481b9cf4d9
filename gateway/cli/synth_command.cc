#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "CLI/CLI.hpp"
#include "engine/model/synth.h"
#include "fmt/format.h"
#include "gateway/cli/commands.h"
#include "gateway/cli/report.h"
#include "gateway/config/flags.h"

namespace headstart {
namespace {

std::string JoinedShapeNames() { return fmt::format("{}", fmt::join(SynthShapeNames(), ", ")); }

absl::Status TakeShape(const std::string& name, SynthOptions& options) {
  options.shape = name;
  return SynthShape(name).status();
}

// What is there already, if anything: a file, or a folder with something in it.
absl::Status CheckFree(const std::string& path) {
  std::error_code error;
  const bool is_nothing = !std::filesystem::exists(std::filesystem::symlink_status(path, error));
  if (is_nothing || (std::filesystem::is_empty(path, error) && !error)) return absl::OkStatus();
  return absl::AlreadyExistsError(
      fmt::format("{} exists already; name another path, or overwrite it with --force", path));
}

// The outermost folder or file that writing to `path` makes; none when all of it is there.
std::filesystem::path FirstNew(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::path first;
  const auto is_free = [&](const std::filesystem::path& at) {
    return !std::filesystem::exists(std::filesystem::symlink_status(at, error));
  };
  for (auto at = path; !at.empty() && is_free(at); at = at.parent_path()) first = at;
  return first;
}

// What a failure leaves is what was there before: half a model helps nobody.
absl::Status WriteWholeModel(const SynthOptions& options) {
  std::error_code ignored;
  const std::filesystem::path made = FirstNew(options.path);
  const bool was_empty = made.empty() && std::filesystem::is_directory(options.path, ignored) &&
                         std::filesystem::is_empty(options.path, ignored);
  absl::Status written = WriteSynthModel(options);
  if (written.ok()) return written;
  if (!made.empty()) std::filesystem::remove_all(made, ignored);
  if (!was_empty) return written;
  for (const auto& file : std::filesystem::directory_iterator(options.path, ignored)) {
    std::filesystem::remove(file.path(), ignored);
  }
  return written;
}

absl::Status CheckKind(const SynthOptions& options) {
  std::error_code ignored;
  if (options.format != SynthFormat::kGguf || !std::filesystem::is_directory(options.path, ignored)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(fmt::format(
      "{} is a folder, and a GGUF is one file; name a file in it, such as {}/model.gguf", options.path, options.path));
}

int Synth(SynthOptions options, bool has_format, bool force) {
  while (options.path.size() > 1 && options.path.ends_with('/')) options.path.pop_back();
  if (!has_format && options.path.ends_with(".gguf")) options.format = SynthFormat::kGguf;
  if (auto status = CheckKind(options); !status.ok()) return PrintError(status);
  if (auto status = force ? absl::OkStatus() : CheckFree(options.path); !status.ok()) return PrintError(status);
  if (auto status = WriteWholeModel(options); !status.ok()) return PrintError(status);
  PrintNow(fmt::format("wrote {}\nserve it:  {} serve --model {}\n", options.path, ProgramPath(), options.path));
  return kExitOk;
}

}  // namespace

void AddSynthCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<SynthOptions>();
  CLI::App* command = app.add_subcommand("synth-model", "Write a model of random weights in the shape of a real one");
  command->footer(
      "\nExamples:\n"
      "  headstart synth-model /tmp/smollm2 --shape smollm2-135m\n"
      "  headstart synth-model /tmp/tiny.gguf --dtype q8_0\n");
  command->add_option("path", options->path, "The folder, or the .gguf file, to write")->required();
  AddParsed(*command, "--shape", options->shape, "Shape of the model: " + JoinedShapeNames(),
            [options](const std::string& name) { return TakeShape(name, *options); });
  command->add_option("--seed", options->seed, "The same seed gives the same weights")
      ->check(CheckUnsigned)
      ->capture_default_str();
  CLI::Option* format = AddChoice<SynthFormat>(*command, "--format", options->format,
                                               {{"hf", SynthFormat::kHuggingFace}, {"gguf", SynthFormat::kGguf}},
                                               "Kind of files; a path that ends in .gguf is one unless this is given");
  AddChoice<DType>(*command, "--dtype", options->dtype,
                   {{"bf16", DType::kBF16}, {"f16", DType::kF16}, {"f32", DType::kF32}, {"q8_0", DType::kQ8_0}},
                   "Type of the weights");
  auto force = std::make_shared<bool>(false);
  command->add_flag("--force", *force, "Write over what is there");
  command->callback([options, force, format, &action] {
    action = [options, force, has_format = format->count() > 0] { return Synth(*options, has_format, *force); };
  });
}

}  // namespace headstart
