// Reads the architecture of a Hugging Face model: config.json, and generation_config.json for what ends a generation.
//
// Thread-safety: pure functions.
// Errors: UNIMPLEMENTED, naming the field and what is supported, for whatever would make the model compute something
// else than this program does; INVALID_ARGUMENT for what is malformed or contradicts itself. Unknown fields are
// ignored.

#ifndef HEADSTART_ENGINE_MODEL_HF_CONFIG_H_
#define HEADSTART_ENGINE_MODEL_HF_CONFIG_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "engine/model/model_config.h"

namespace headstart {

struct HuggingFaceConfigFiles {
  std::string_view config_json;
  std::string config_path;                  // for messages
  std::string_view generation_config_json;  // empty: there is none
  std::string generation_config_path;
};

absl::StatusOr<ModelConfig> ParseHuggingFaceConfig(const HuggingFaceConfigFiles& files);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_MODEL_HF_CONFIG_H_
