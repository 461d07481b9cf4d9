// Every field of EngineOptions as a flag.

#ifndef HEADSTART_GATEWAY_CONFIG_ENGINE_FLAGS_H_
#define HEADSTART_GATEWAY_CONFIG_ENGINE_FLAGS_H_

#include <cstdint>

#include "CLI/App.hpp"
#include "absl/status/status.h"
#include "engine/engine.h"

namespace headstart {

// `options` gives the defaults and takes the values; it outlives the parsing.
void AddEngineFlags(CLI::App& app, EngineOptions& options);

// What the engine says of an option, with the name of the flag that sets it.
absl::Status WithFlagNames(const absl::Status& status);

// Bytes of memory that this machine has.
int64_t MachineMemoryBytes();

// INVALID_ARGUMENT naming the flags that do not go together, or ask for more memory than there is. To be asked once
// parsing is done.
absl::Status CheckEngineFlags(const EngineOptions& options, int64_t memory_bytes = MachineMemoryBytes());

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_CONFIG_ENGINE_FLAGS_H_
