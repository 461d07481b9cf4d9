// What is said of words that a command line should not have.

#include "gateway/cli/unexpected.h"

#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "gtest/gtest.h"

namespace headstart::testing {
namespace {

TEST(ClosestWordTest, TakesTheFewestChanges) {
  const std::vector<std::string> known = {"list", "show", "flush", "--kv-cache-size", "--host-cache-size"};
  for (const auto& [word, closest] : std::vector<std::pair<std::string, std::string>>{
           {"list", "list"},
           {"lst", "list"},
           {"lists", "list"},
           {"shwo", "show"},
           {"flash", "flush"},
           {"--kv-cash-siz", "--kv-cache-size"},
           {"--cache-size", "--kv-cache-size"},
           {"verify", ""},
           {"", ""},
       }) {
    EXPECT_EQ(ClosestWord(word, known), closest) << word;
  }
}

std::string Explain(std::vector<std::string> words) {
  CLI::App app("", "tool");
  app.require_subcommand(1);
  app.fallthrough();
  int number = 0;
  app.add_option("--config", number, "");
  CLI::App* serve = app.add_subcommand("serve", "");
  serve->add_option("--threads", number, "");
  CLI::App* cache = app.add_subcommand("cache", "");
  cache->require_subcommand(1);
  cache->add_subcommand("list", "");
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError&) {
    return ExplainUnexpected(app);
  }
  return "parsed";
}

TEST(ExplainUnexpectedTest, NamesTheCommandTheWordAndWhatIsNear) {
  for (const auto& [words, said] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"serve", "--threads", "2"}, "parsed"},
           {{"serv"}, "tool has no subcommand \"serv\"; did you mean serve?"},
           {{"xyzzy"}, "tool has no subcommand \"xyzzy\""},
           {{"serve", "--thread", "2"}, "serve has no flag --thread; did you mean --threads?"},
           {{"serve", "--confg=x"}, "serve has no flag --confg; did you mean --config?"},
           {{"serve", "now"}, "serve takes no argument \"now\"; text with spaces stands in quotes"},
           {{"cache", "lost"}, "cache has no subcommand \"lost\"; did you mean list?"},
           {{"cache", "list", "-v"}, "list has no flag -v"},
           {{"serve", "--threads", "two"}, ""},
           {{}, ""},
       }) {
    EXPECT_EQ(Explain(words), said);
  }
}

}  // namespace
}  // namespace headstart::testing
