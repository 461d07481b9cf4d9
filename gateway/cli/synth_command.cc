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
  const bool free = !std::filesystem::exists(path, error) || std::filesystem::is_empty(path, error);
  if (free && !error) return absl::OkStatus();
  return absl::AlreadyExistsError(
      fmt::format("{} exists already; name another path, or overwrite it with --force", path));
}

int Synth(const SynthOptions& options, bool force) {
  if (auto status = force ? absl::OkStatus() : CheckFree(options.path); !status.ok()) return PrintError(status);
  if (auto status = WriteSynthModel(options); !status.ok()) return PrintError(status);
  PrintNow(fmt::format("wrote {}\nserve it:  {} serve --model {}\n", options.path, ProgramPath(), options.path));
  return kExitOk;
}

}  // namespace

void AddSynthCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<SynthOptions>();
  CLI::App* command = app.add_subcommand("synth-model", "Write a model of random weights in the shape of a real one");
  command->footer("\nExample:\n  headstart synth-model /tmp/smollm2 --shape smollm2-135m\n");
  command->add_option("path", options->path, "The folder, or the .gguf file, to write")->required();
  AddParsed(*command, "--shape", options->shape, "Shape of the model: " + JoinedShapeNames(),
            [options](const std::string& name) { return TakeShape(name, *options); });
  command->add_option("--seed", options->seed, "The same seed gives the same weights")->capture_default_str();
  AddChoice<SynthFormat>(*command, "--format", options->format,
                         {{"hf", SynthFormat::kHuggingFace}, {"gguf", SynthFormat::kGguf}}, "Kind of files");
  AddChoice<DType>(*command, "--dtype", options->dtype,
                   {{"bf16", DType::kBF16}, {"f16", DType::kF16}, {"f32", DType::kF32}, {"q8_0", DType::kQ8_0}},
                   "Type of the weights");
  auto force = std::make_shared<bool>(false);
  command->add_flag("--force", *force, "Write over what is there");
  command->callback([options, force, &action] { action = [options, force] { return Synth(*options, *force); }; });
}

}  // namespace headstart
