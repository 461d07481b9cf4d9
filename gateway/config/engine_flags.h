// Every field of EngineOptions as a flag.

#ifndef HEADSTART_GATEWAY_CONFIG_ENGINE_FLAGS_H_
#define HEADSTART_GATEWAY_CONFIG_ENGINE_FLAGS_H_

#include "CLI/App.hpp"
#include "absl/status/status.h"
#include "engine/engine.h"

namespace headstart {

// `options` gives the defaults and takes the values; it outlives the parsing.
void AddEngineFlags(CLI::App& app, EngineOptions& options);

// INVALID_ARGUMENT naming the flags that do not go together. To be asked once parsing is done.
absl::Status CheckEngineFlags(const EngineOptions& options);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_CONFIG_ENGINE_FLAGS_H_
