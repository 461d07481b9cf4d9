#include "CLI/CLI.hpp"
#include "gateway/cli/cache_commands.h"
#include "gateway/cli/commands.h"

namespace headstart {

void AddCacheCommand(CLI::App& app, Action& action) {
  CLI::App* cache = app.add_subcommand("cache", "Look after the prompt cache of a running server");
  cache->require_subcommand(1);
  cache->footer(
      "\nExamples:\n"
      "  headstart cache status\n"
      "  headstart cache warm --file system_prompt.txt --system --id support --ttl 12h\n"
      "  headstart cache list\n"
      "  headstart cache drop support\n"
      "  headstart cache verify --dir /var/cache/headstart     a stopped server's disk\n");
  AddCacheAdminCommands(*cache, action);
  AddCacheWarmCommands(*cache, action);
  AddCachePrefixCommands(*cache, action);
  AddCacheVerifyCommand(*cache, action);
}

}  // namespace headstart
