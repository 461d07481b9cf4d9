// The subcommands of the program. Each Add function declares its flags; when its subcommand is chosen, it leaves what
// to do in `action`, which the program runs once parsing is done and whose result is the exit code.
//
// Ownership: `action` outlives the parsing.

#ifndef HEADSTART_GATEWAY_CLI_COMMANDS_H_
#define HEADSTART_GATEWAY_CLI_COMMANDS_H_

#include <functional>

#include "CLI/App.hpp"

namespace headstart {

using Action = std::function<int()>;

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;  // it could not be done
inline constexpr int kExitUsage = 2;    // the command line or configuration is wrong

void AddServeCommand(CLI::App& app, Action& action);
void AddGenerateCommand(CLI::App& app, Action& action);
void AddChatCommand(CLI::App& app, Action& action);
void AddCountCommand(CLI::App& app, Action& action);
void AddModelsCommand(CLI::App& app, Action& action);
void AddCacheCommand(CLI::App& app, Action& action);
void AddUsageCommand(CLI::App& app, Action& action);
void AddSynthCommand(CLI::App& app, Action& action);
void AddReplayCommand(CLI::App& app, Action& action);
void AddDemoCommand(CLI::App& app, Action& action);
void AddKeyCommand(CLI::App& app, Action& action);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_CLI_COMMANDS_H_
