#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "fmt/format.h"
#include "gateway/cli/client.h"
#include "gateway/cli/client_flags.h"
#include "gateway/cli/commands.h"
#include "gateway/cli/report.h"
#include "gateway/config/flags.h"

namespace headstart {
namespace {

struct CountFlags {
  ClientFlags client;
  std::string text;
  bool parse_special = false;
  bool ids = false;
  bool json = false;
};

int Count(const CountFlags& flags) {
  v1::CountTokensRequest request;
  request.mutable_input()->mutable_text()->set_text(flags.text);
  request.mutable_input()->mutable_text()->set_parse_special(flags.parse_special);
  request.set_include_token_ids(flags.ids);
  auto response = Client(flags.client).CountTokens(request);
  if (!response.ok()) return PrintError(response.status());
  if (flags.json) {
    PrintJson(*response);
    return kExitOk;
  }
  PrintNow(fmt::format("{}: {} cached, {} to compute\n", Counted(response->tokens(), "token", "tokens"),
                       response->split().cached_tokens(), response->split().computed_tokens()));
  if (flags.ids) PrintNow(fmt::format("{}\n", fmt::join(response->token_ids(), " ")));
  return kExitOk;
}

}  // namespace

void AddCountCommand(CLI::App& app, Action& action) {
  auto flags = std::make_shared<CountFlags>();
  CLI::App* command = app.add_subcommand("count", "Count a text's tokens, and how many of them are cached");
  command->footer(
      "\nExamples:\n"
      "  headstart count \"$(cat prompt.txt)\"\n"
      "  headstart count \"Where is the red lamp?\" --ids\n");
  command->add_option("text", flags->text, "The text")->required()->check(CheckNotEmpty)->check(CheckUtf8);
  command->add_flag("--parse-special", flags->parse_special, "Text that spells a control token becomes that token");
  command->add_flag("--ids", flags->ids, "Print the token ids as well");
  command->add_flag("--json", flags->json, "Print one JSON object");
  AddClientFlags(*command, flags->client);
  command->callback([flags, &action] { action = [flags] { return Count(*flags); }; });
}

}  // namespace headstart
