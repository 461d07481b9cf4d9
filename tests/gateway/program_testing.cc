#include "tests/gateway/program_testing.h"

#include <algorithm>
#include <cstdio>

#include "CLI/CLI.hpp"
#include "gateway/cli/commands.h"
#include "gtest/gtest.h"

namespace headstart::testing {

Result RunProgram(std::vector<std::string> words) {
  CLI::App app;
  app.require_subcommand(1);
  Action action;
  AddModelsCommand(app, action);
  AddCacheCommand(app, action);
  AddKeyCommand(app, action);
  std::ranges::reverse(words);  // as CLI11 wants a vector
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  Result result;
  try {
    app.parse(words);
    result.exit_code = action();
  } catch (const CLI::ParseError& error) {
    result.exit_code = app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  std::fflush(stdout);
  result.out = ::testing::internal::GetCapturedStdout();
  result.err = ::testing::internal::GetCapturedStderr();
  return result;
}

}  // namespace headstart::testing
