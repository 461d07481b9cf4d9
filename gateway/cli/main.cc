// headstart: the program. Parses the command line and an optional configuration file, then runs one subcommand.

#include <algorithm>
#include <cstdlib>
#include <istream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "fmt/format.h"
#include "gateway/cli/commands.h"
#include "gateway/cli/report.h"
#include "gateway/cli/unexpected.h"
#include "gateway/services/version.h"

namespace headstart {
namespace {

constexpr char kExamples[] = R"(
Examples:
  headstart demo                                   see what a remembered prompt saves
  headstart serve                                  serve the built-in demo model on 127.0.0.1:8700
  headstart serve --model /models/Qwen3-0.6B --kv-cache-size 4GiB
  headstart chat "Where is the red lamp?" --system "You are the inventory assistant. ..."
  headstart serve --config headstart.toml          flags from a file: a [serve] section with keys such as listen
)";

// What of a configuration file CLI11 could not place, fit for a terminal: the file may be anything.
std::string Unplaced(std::string_view what) {
  constexpr std::string_view kPrefix = "INI was not able to parse ";
  constexpr std::string_view kSectionMark = ".++";
  constexpr size_t kShown = 60;
  if (what.starts_with(kPrefix)) what.remove_prefix(kPrefix.size());
  if (what.ends_with(kSectionMark)) what.remove_suffix(kSectionMark.size());
  std::string text(what.substr(0, kShown));
  std::ranges::replace_if(
      text, [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

int PrintConfigError(const CLI::ConfigError& error) {
  PrintError(absl::InvalidArgumentError(
      fmt::format("the configuration file has \"{}\", which is neither a flag nor a section; a flag is a key, such as "
                  "listen = \"127.0.0.1:8700\", below the name of its subcommand in brackets, such as [serve]",
                  Unplaced(error.what()))));
  return kExitUsage;
}

// A configuration that is no larger than one can be: a device would be read for ever.
class BoundedConfig final : public CLI::ConfigTOML {
 public:
  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    constexpr std::streamsize kMostBytes = 1 << 20;
    std::string text(kMostBytes + 1, '\0');
    input.read(text.data(), kMostBytes + 1);
    if (input.gcount() > kMostBytes) {
      throw CLI::FileError("--config: the file has more than 1 MiB, and no configuration does; name another");
    }
    text.resize(static_cast<size_t>(input.gcount()));
    std::istringstream bounded(text);
    return CLI::ConfigTOML::from_config(bounded);
  }
};

// Of what cannot be parsed; 0 of --help and --version.
int PrintParseError(const CLI::App& app, const CLI::ParseError& error) {
  const std::string unexpected = error.get_exit_code() == 0 ? "" : ExplainUnexpected(app);
  if (unexpected.empty()) return app.exit(error) == 0 ? Written(kExitOk) : kExitUsage;
  PrintError(absl::InvalidArgumentError(unexpected));
  fmt::print(stderr, "Run with --help for more information.\n");
  return kExitUsage;
}

int Main(int argc, char** argv) {
  // gRPC's own log lines say nothing that the statuses of its calls do not. There are no other threads yet.
  // NOLINTNEXTLINE(concurrency-mt-unsafe)
  setenv("GRPC_VERBOSITY", "NONE", /*replace=*/0);
  CLI::App app("Headstart: serves language models and computes no prompt prefix twice.", "headstart");
  app.footer(kExamples);
  app.set_version_flag("--version", fmt::format("headstart {}", Version()));
  app.set_config("--config", "", "Read flags from this TOML or INI file; sections are named after subcommands");
  app.config_formatter(std::make_shared<BoundedConfig>());
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.require_subcommand(1);
  app.fallthrough();

  Action action;
  AddServeCommand(app, action);
  AddGenerateCommand(app, action);
  AddChatCommand(app, action);
  AddCountCommand(app, action);
  AddModelsCommand(app, action);
  AddCacheCommand(app, action);
  AddUsageCommand(app, action);
  AddSynthCommand(app, action);
  AddReplayCommand(app, action);
  AddKeyCommand(app, action);
  AddDemoCommand(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ConfigError& error) {
    return PrintConfigError(error);
  } catch (const CLI::ParseError& error) {
    return PrintParseError(app, error);
  }
  return Written(action());
}

}  // namespace
}  // namespace headstart

int main(int argc, char** argv) { return headstart::Main(argc, argv); }
