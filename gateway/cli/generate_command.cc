#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "gateway/cli/client.h"
#include "gateway/cli/client_flags.h"
#include "gateway/cli/commands.h"
#include "gateway/cli/report.h"
#include "gateway/config/flags.h"

namespace headstart {
namespace {

struct GenerateFlags {
  ClientFlags client;
  GenerationFlags generation;
  std::string prompt;
  bool parse_special = false;
};

int Generate(const GenerateFlags& flags) {
  v1::GenerateRequest request = ToRequest(flags.generation);
  request.mutable_input()->mutable_text()->set_text(flags.prompt);
  request.mutable_input()->mutable_text()->set_parse_special(flags.parse_special);
  const bool json = flags.generation.json;
  auto answer = Client(flags.client).Generate(request, [json](std::string_view text) {
    if (!json) PrintNow(text);
  });
  if (!answer.ok()) return PrintError(answer.status());
  if (json) {
    PrintJson(*answer);
    return kExitOk;
  }
  PrintNow("\n");
  PrintAccount(*answer);
  return kExitOk;
}

}  // namespace

void AddGenerateCommand(CLI::App& app, Action& action) {
  auto flags = std::make_shared<GenerateFlags>();
  CLI::App* command = app.add_subcommand("generate", "Continue a text on a running server");
  command->footer("\nExample:\n  headstart generate \"Once upon a time\" --max-tokens 64\n");
  command->add_option("prompt", flags->prompt, "The text to continue")
      ->required()
      ->check(CheckNotEmpty)
      ->check(CheckUtf8);
  command->add_flag("--parse-special", flags->parse_special, "Text that spells a control token becomes that token");
  AddClientFlags(*command, flags->client);
  AddGenerationFlags(*command, flags->generation);
  command->callback([flags, &action] { action = [flags] { return Generate(*flags); }; });
}

}  // namespace headstart
