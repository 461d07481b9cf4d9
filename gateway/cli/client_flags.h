// Flags that the client subcommands share.

#ifndef HEADSTART_GATEWAY_CLI_CLIENT_FLAGS_H_
#define HEADSTART_GATEWAY_CLI_CLIENT_FLAGS_H_

#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "absl/time/time.h"
#include "gateway/cli/connection.h"
#include "headstart/v1/inference.pb.h"

namespace headstart {

using ClientFlags = ServerAccess;

struct GenerationFlags {
  float temperature = 0;
  float top_p = 1;
  int top_k = 0;
  std::string seed;
  int64_t max_tokens = 512;  // a page or so: who asks for more says so. 0: to the end of the context
  std::vector<std::string> stop;
  bool ignore_eos = false;
  bool no_cache_read = false;
  bool no_cache_write = false;
  v1::CachePriority cache_priority = v1::CACHE_PRIORITY_NORMAL;
  absl::Duration cache_ttl = absl::InfiniteDuration();
  bool json = false;
};

// Returns --server.
CLI::Option* AddClientFlags(CLI::App& app, ClientFlags& flags);
void AddGenerationFlags(CLI::App& app, GenerationFlags& flags);

// Everything but the input.
v1::GenerateRequest ToRequest(const GenerationFlags& flags);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_CLI_CLIENT_FLAGS_H_
