// The flags of the HTTP side: where to listen, what a client may make it hold, and how the OpenAI-compatible API
// answers.

#ifndef HEADSTART_GATEWAY_CONFIG_HTTP_FLAGS_H_
#define HEADSTART_GATEWAY_CONFIG_HTTP_FLAGS_H_

#include "CLI/App.hpp"
#include "gateway/http/http_server.h"
#include "gateway/openai/openai_options.h"

namespace headstart {

// The options give the defaults and take the values; they outlive the parsing. An empty `listen` means that there shall
// be no HTTP server.
void AddHttpFlags(CLI::App& app, HttpServerOptions& options);
void AddOpenAiFlags(CLI::App& app, OpenAiOptions& options);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_CONFIG_HTTP_FLAGS_H_
