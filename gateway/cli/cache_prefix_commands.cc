#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/time/clock.h"
#include "fmt/format.h"
#include "gateway/cli/cache_client.h"
#include "gateway/cli/cache_commands.h"
#include "gateway/cli/cache_report.h"
#include "gateway/cli/client_flags.h"
#include "gateway/cli/report.h"
#include "gateway/config/flags.h"

namespace headstart {
namespace {

struct PrefixFlags {
  ClientFlags client;
  std::string id;
  bool is_public = false;
  bool json = false;
};

v1::PrefixScope ScopeOf(const PrefixFlags& flags) {
  return flags.is_public ? v1::PREFIX_SCOPE_PUBLIC : v1::PREFIX_SCOPE_TENANT;
}

int List(const PrefixFlags& flags) {
  auto prefixes = CacheClient(flags.client).ListPrefixes();
  if (!prefixes.ok()) return PrintError(prefixes.status());
  if (flags.json) {
    PrintJson(*prefixes);
  } else {
    PrintNow(FormatPrefixes(*prefixes, absl::Now()));
  }
  return kExitOk;
}

int PrintPrefixError(const absl::Status& status, const PrefixFlags& flags) {
  if (!absl::IsNotFound(status) || flags.is_public) return PrintError(status);
  return PrintError(
      absl::NotFoundError(fmt::format("{}; a public prefix is meant with --public", std::string(status.message()))));
}

int Show(const PrefixFlags& flags) {
  v1::GetPrefixRequest request;
  request.set_id(flags.id);
  request.set_scope(ScopeOf(flags));
  auto response = CacheClient(flags.client).GetPrefix(request);
  if (!response.ok()) return PrintPrefixError(response.status(), flags);
  if (flags.json) {
    PrintJson(response->prefix());
  } else {
    PrintNow(FormatPrefix(response->prefix(), absl::Now()));
  }
  return kExitOk;
}

int Drop(const PrefixFlags& flags) {
  v1::DeletePrefixRequest request;
  request.set_id(flags.id);
  request.set_scope(ScopeOf(flags));
  auto response = CacheClient(flags.client).DeletePrefix(request);
  if (!response.ok()) return PrintPrefixError(response.status(), flags);
  PrintNow(fmt::format("dropped {}; what was computed stays cached until it is evicted\n", flags.id));
  return kExitOk;
}

CLI::App* AddCommand(CLI::App& cache, Action& action, const std::string& name, const std::string& help,
                     int (*run)(const PrefixFlags&), const std::shared_ptr<PrefixFlags>& flags) {
  CLI::App* command = cache.add_subcommand(name, help);
  AddClientFlags(*command, flags->client);
  command->callback([flags, run, &action] { action = [flags, run] { return run(*flags); }; });
  return command;
}

void AddPrefixName(CLI::App& command, PrefixFlags& flags) {
  command.add_option("id", flags.id, "The prefix's id, as `cache list` shows it")->required()->check(CheckUtf8);
  command.add_flag("--public", flags.is_public, "The public prefix of this id, not your own");
}

}  // namespace

void AddCachePrefixCommands(CLI::App& cache, Action& action) {
  auto list_flags = std::make_shared<PrefixFlags>();
  CLI::App* list =
      AddCommand(cache, action, "list", "List registered prefixes: yours and the public ones", List, list_flags);
  list->add_flag("--json", list_flags->json, "Print one JSON object");

  auto show_flags = std::make_shared<PrefixFlags>();
  CLI::App* show = AddCommand(cache, action, "show", "Show one registered prefix", Show, show_flags);
  AddPrefixName(*show, *show_flags);
  show->add_flag("--json", show_flags->json, "Print one JSON object");

  auto drop_flags = std::make_shared<PrefixFlags>();
  CLI::App* drop = AddCommand(cache, action, "drop", "Forget a registered prefix and end its pin", Drop, drop_flags);
  AddPrefixName(*drop, *drop_flags);
}

}  // namespace headstart
