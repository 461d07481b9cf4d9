#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "fmt/format.h"
#include "gateway/cli/cache_client.h"
#include "gateway/cli/cache_commands.h"
#include "gateway/cli/cache_report.h"
#include "gateway/cli/client_flags.h"
#include "gateway/cli/report.h"
#include "gateway/config/flags.h"

namespace headstart {
namespace {

struct AdminFlags {
  ClientFlags client;
  std::string tenant;
  bool json = false;
};

int Status(const AdminFlags& flags) {
  auto status = CacheClient(flags.client).GetStatus();
  if (!status.ok()) return PrintError(status.status());
  if (flags.json) {
    PrintJson(*status);
  } else {
    PrintNow(FormatStatus(*status));
  }
  return kExitOk;
}

template <typename Response>
int PrintRemoved(const absl::StatusOr<Response>& response) {
  if (!response.ok()) return PrintError(response.status());
  PrintNow(fmt::format("removed {} and {}\n", Counted(response->removed_blocks(), "block", "blocks"),
                       Counted(response->removed_prefixes(), "registered prefix", "registered prefixes")));
  return kExitOk;
}

int Flush(const AdminFlags& flags) { return PrintRemoved(CacheClient(flags.client).FlushCache()); }

int Purge(const AdminFlags& flags) { return PrintRemoved(CacheClient(flags.client).PurgeTenant(flags.tenant)); }

CLI::App* AddCommand(CLI::App& cache, Action& action, const std::string& name, const std::string& help,
                     int (*run)(const AdminFlags&), const std::shared_ptr<AdminFlags>& flags) {
  CLI::App* command = cache.add_subcommand(name, help);
  AddClientFlags(*command, flags->client);
  command->callback([flags, run, &action] { action = [flags, run] { return run(*flags); }; });
  return command;
}

}  // namespace

void AddCacheAdminCommands(CLI::App& cache, Action& action) {
  auto status_flags = std::make_shared<AdminFlags>();
  AddCommand(cache, action, "status", "Show what runs, and how full each tier of the cache is", Status, status_flags)
      ->add_flag("--json", status_flags->json, "Print one JSON object");

  AddCommand(cache, action, "flush", "Forget everything cached, in every tier, registered prefixes included", Flush,
             std::make_shared<AdminFlags>());

  auto purge_flags = std::make_shared<AdminFlags>();
  AddCommand(cache, action, "purge", "Forget everything that one tenant has cached", Purge, purge_flags)
      ->add_option("tenant", purge_flags->tenant, "The tenant")
      ->required()
      ->check(CheckUtf8);
}

}  // namespace headstart
