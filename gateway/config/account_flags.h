// The flags of the usage account: where it is kept, for how long, and what things cost.

#ifndef HEADSTART_GATEWAY_CONFIG_ACCOUNT_FLAGS_H_
#define HEADSTART_GATEWAY_CONFIG_ACCOUNT_FLAGS_H_

#include <string>

#include "CLI/App.hpp"
#include "gateway/insight/prompt_history.h"

namespace headstart {

struct AccountFlags {
  std::string ledger_directory;  // empty: the account is kept in memory, and lost at the end
  std::string prices_file;       // empty: nothing costs
  int keep_record_days = 90;
  int keep_sum_days = 800;
};

// The options give the defaults and take the values; they outlive the parsing.
void AddAccountFlags(CLI::App& app, AccountFlags& flags);
void AddPromptHistoryFlags(CLI::App& app, PromptHistoryOptions& options);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_CONFIG_ACCOUNT_FLAGS_H_
