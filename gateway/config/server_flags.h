// The flags of the network side: where to listen, how large requests may be, how connections are kept.

#ifndef HEADSTART_GATEWAY_CONFIG_SERVER_FLAGS_H_
#define HEADSTART_GATEWAY_CONFIG_SERVER_FLAGS_H_

#include "CLI/App.hpp"
#include "gateway/server/grpc_server.h"
#include "gateway/services/limits.h"

namespace headstart {

// The options give the defaults and take the values; they outlive the parsing.
void AddServerFlags(CLI::App& app, GrpcServerOptions& options);
void AddLimitFlags(CLI::App& app, RequestLimits& limits);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_CONFIG_SERVER_FLAGS_H_
