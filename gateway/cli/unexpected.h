// What a command line has that its command does not know, and what was probably meant.
//
// Thread-safety: free functions.

#ifndef HEADSTART_GATEWAY_CLI_UNEXPECTED_H_
#define HEADSTART_GATEWAY_CLI_UNEXPECTED_H_

#include <string>
#include <string_view>
#include <vector>

#include "CLI/App.hpp"

namespace headstart {

// After parsing failed: one sentence about the first flag, subcommand or argument that has no place; empty when there
// is none, so that something else was wrong.
std::string ExplainUnexpected(const CLI::App& app);

// The word of `known` that takes the fewest changes of a character to become `word`; empty when it takes more than one
// in three, and never fewer than two are allowed.
std::string ClosestWord(std::string_view word, const std::vector<std::string>& known);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_CLI_UNEXPECTED_H_
