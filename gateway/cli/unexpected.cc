#include "gateway/cli/unexpected.h"

#include <algorithm>
#include <numeric>

#include "fmt/format.h"

namespace headstart {
namespace {

// Levenshtein's distance.
size_t ChangesBetween(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (const char from : a) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (from == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

const CLI::App& Innermost(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

std::vector<std::string> FlagsOf(const CLI::App& command) {
  std::vector<std::string> flags;
  for (const CLI::App* at = &command; at != nullptr; at = at->get_parent()) {
    for (const CLI::Option* option : at->get_options()) {
      for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
    }
  }
  return flags;
}

std::vector<std::string> SubcommandsOf(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* child : command.get_subcommands(nullptr)) names.push_back(child->get_name());
  return names;
}

std::string WithAdvice(std::string sentence, const std::string& meant) {
  return meant.empty() ? sentence : fmt::format("{}; did you mean {}?", sentence, meant);
}

}  // namespace

std::string ClosestWord(std::string_view word, const std::vector<std::string>& known) {
  size_t fewest = std::max<size_t>(2, word.size() / 3) + 1;
  std::string closest;
  for (const std::string& candidate : known) {
    const size_t changes = ChangesBetween(word, candidate);
    if (changes >= fewest) continue;
    fewest = changes;
    closest = candidate;
  }
  return closest;
}

std::string ExplainUnexpected(const CLI::App& app) {
  const std::vector<std::string> unplaced = app.remaining(/*recurse=*/true);
  if (unplaced.empty()) return "";
  const CLI::App& command = Innermost(app);
  const auto flag = std::ranges::find_if(unplaced, [](const std::string& word) { return word.starts_with('-'); });
  if (flag != unplaced.end()) {
    const std::string name = flag->substr(0, flag->find('='));
    return WithAdvice(fmt::format("{} has no flag {}", command.get_name(), name), ClosestWord(name, FlagsOf(command)));
  }
  const std::vector<std::string> subcommands = SubcommandsOf(command);
  const std::string& word = unplaced.front();
  if (subcommands.empty()) {
    return fmt::format("{} takes no argument \"{}\"; text with spaces stands in quotes", command.get_name(), word);
  }
  return WithAdvice(fmt::format("{} has no subcommand \"{}\"", command.get_name(), word),
                    ClosestWord(word, subcommands));
}

}  // namespace headstart
