// The subcommands of `headstart cache`, by what they call. As commands.h says.

#ifndef HEADSTART_GATEWAY_CLI_CACHE_COMMANDS_H_
#define HEADSTART_GATEWAY_CLI_CACHE_COMMANDS_H_

#include "CLI/App.hpp"
#include "gateway/cli/commands.h"

namespace headstart {

void AddCachePrefixCommands(CLI::App& cache, Action& action);  // list, show, drop
void AddCacheWarmCommands(CLI::App& cache, Action& action);    // warm, pin
void AddCacheAdminCommands(CLI::App& cache, Action& action);   // status, flush, purge
void AddCacheVerifyCommand(CLI::App& cache, Action& action);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_CLI_CACHE_COMMANDS_H_
