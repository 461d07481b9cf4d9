#include <memory>

#include "CLI/CLI.hpp"
#include "fmt/format.h"
#include "gateway/cli/client.h"
#include "gateway/cli/client_flags.h"
#include "gateway/cli/commands.h"
#include "gateway/cli/report.h"
#include "gateway/config/byte_size.h"

namespace headstart {
namespace {

struct ModelsFlags {
  ClientFlags client;
  bool json = false;
};

int Models(const ModelsFlags& flags) {
  auto response = Client(flags.client).ListModels();
  if (!response.ok()) return PrintError(response.status());
  if (flags.json) {
    PrintJson(*response);
    return kExitOk;
  }
  std::vector<std::vector<std::string>> rows = {{"model", "kind", " context", " cache", " KV a token", "fingerprint"}};
  for (const auto& model : response->models()) {
    rows.push_back({model.name(), model.architecture(), fmt::format("{} tokens", model.max_context_tokens()),
                    fmt::format("{} tokens", model.cache_capacity_tokens()),
                    ReadableByteSize(model.kv_bytes_per_token()), model.fingerprint()});
  }
  PrintNow(FormatTable(rows));
  return kExitOk;
}

}  // namespace

void AddModelsCommand(CLI::App& app, Action& action) {
  auto flags = std::make_shared<ModelsFlags>();
  CLI::App* command = app.add_subcommand("models", "List the models of a running server");
  command->footer(
      "\nExamples:\n"
      "  headstart models\n"
      "  headstart models --server 10.0.0.7:8700 --tls-ca ca.crt --api-key-file key.txt --json\n");
  command->add_flag("--json", flags->json, "Print one JSON object");
  AddClientFlags(*command, flags->client);
  command->callback([flags, &action] { action = [flags] { return Models(*flags); }; });
}

}  // namespace headstart
