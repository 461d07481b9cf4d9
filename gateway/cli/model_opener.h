// Models by the names that the command line takes.

#ifndef HEADSTART_GATEWAY_CLI_MODEL_OPENER_H_
#define HEADSTART_GATEWAY_CLI_MODEL_OPENER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "engine/model/model_source.h"

namespace headstart {

inline constexpr char kDemoModel[] = "demo";

// What it knows an answer to, as arguments of `headstart chat`.
inline constexpr char kDemoQuestion[] =
    "\"Where is the red lamp?\" --system \"You are the inventory assistant. Answer from this list. The red lamp is in "
    "room 215.\"";
inline constexpr char kModelHelp[] =
    "A folder with config.json and *.safetensors, a .gguf file, or \"demo\" for the built-in one";

// "demo" is the embedded model; anything else is a path. Errors as OpenModel's.
absl::StatusOr<std::unique_ptr<ModelSource>> OpenModelByName(const std::string& name);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_CLI_MODEL_OPENER_H_
