#include "gateway/config/account_flags.h"

#include "CLI/CLI.hpp"
#include "gateway/config/flags.h"

namespace headstart {
namespace {

constexpr int kMostDays = 36500;  // a century

void AddDays(CLI::App& app, const std::string& flag, int& target, const std::string& help) {
  app.add_option(flag, target, help)->check(CLI::Range(1, kMostDays))->capture_default_str();
}

}  // namespace

void AddAccountFlags(CLI::App& app, AccountFlags& flags) {
  app.add_option("--ledger-dir", flags.ledger_directory,
                 "Folder of the usage account, created if need be; without it the account ends with the server");
  app.add_option("--prices", flags.prices_file, "Price book, a YAML file that is read anew when it changes");
  AddDays(app, "--ledger-keep-record-days", flags.keep_record_days, "Days that each request's record is kept");
  AddDays(app, "--ledger-keep-sum-days", flags.keep_sum_days, "Days that the sums of each hour are kept");
}

void AddPromptHistoryFlags(CLI::App& app, PromptHistoryOptions& options) {
  AddByteSize(app, "--prompt-history-size", options.max_bytes,
              "Memory for recent prompts, from which misses are explained; 0B remembers none");
}

}  // namespace headstart
