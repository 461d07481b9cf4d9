// Flags whose values are not plain numbers, for the command line and the configuration file alike. A wrong value ends
// parsing with CLI::ValidationError naming the flag, the value and what is taken.
//
// Ownership: `target` outlives the parsing.

#ifndef HEADSTART_GATEWAY_CONFIG_FLAGS_H_
#define HEADSTART_GATEWAY_CONFIG_FLAGS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "CLI/App.hpp"
#include "absl/status/status.h"
#include "absl/time/time.h"

namespace headstart {

// --size 2GiB
CLI::Option* AddByteSize(CLI::App& app, const std::string& flag, int64_t& target, const std::string& help);

// --timeout 30s
CLI::Option* AddDuration(CLI::App& app, const std::string& flag, absl::Duration& target, const std::string& help);

// For CLI::Option::check: a complaint about an empty text.
std::string CheckNotEmpty(const std::string& text);

// Likewise about bytes that are no UTF-8, which no text of a request may have.
std::string CheckUtf8(const std::string& text);

// A whole number of at most 64 bits, in digits alone.
std::optional<uint64_t> ParseUnsigned(const std::string& text);

// For CLI::Option::check: a complaint about anything else. Where CLI11 reads such a number itself it takes -1 for the
// largest one.
std::string CheckUnsigned(const std::string& text);

// A flag whose text `parse` turns into a value or a complaint.
CLI::Option* AddParsed(CLI::App& app, const std::string& flag, const std::string& default_text, const std::string& help,
                       std::function<absl::Status(const std::string&)> parse);

// --policy lru: one word of `choices`.
template <typename Value>
CLI::Option* AddChoice(CLI::App& app, const std::string& flag, Value& target,
                       std::vector<std::pair<std::string, Value>> choices, const std::string& help) {
  std::string names;
  std::string current;
  for (const auto& [name, value] : choices) {
    names += (names.empty() ? "" : ", ") + name;
    if (value == target) current = name;
  }
  auto parse = [&target, choices = std::move(choices), names](const std::string& text) {
    for (const auto& [name, value] : choices) {
      if (name != text) continue;
      target = value;
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError("\"" + text + "\" is not one of: " + names);
  };
  return AddParsed(app, flag, current, help + " (" + names + ")", std::move(parse));
}

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_CONFIG_FLAGS_H_
