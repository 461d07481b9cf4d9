// Every field of EngineOptions as a flag.

#ifndef HEADSTART_GATEWAY_CONFIG_ENGINE_FLAGS_H_
#define HEADSTART_GATEWAY_CONFIG_ENGINE_FLAGS_H_

#include "CLI/App.hpp"
#include "engine/engine.h"

namespace headstart {

// `options` gives the defaults and takes the values; it outlives the parsing.
void AddEngineFlags(CLI::App& app, EngineOptions& options);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_CONFIG_ENGINE_FLAGS_H_
