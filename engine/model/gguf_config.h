// Reads the architecture and the text side of a model from GGUF metadata.
//
// Thread-safety: pure functions.
// Errors: as for ParseHuggingFaceConfig, naming the metadata key.

#ifndef HEADSTART_ENGINE_MODEL_GGUF_CONFIG_H_
#define HEADSTART_ENGINE_MODEL_GGUF_CONFIG_H_

#include <string>

#include "absl/status/statusor.h"
#include "engine/model/gguf.h"
#include "engine/model/model_config.h"
#include "engine/text/tokenizer_spec.h"

namespace headstart {

absl::StatusOr<ModelConfig> ReadGgufConfig(const GgufFile& file);

absl::StatusOr<TokenizerSpec> ReadGgufTokenizer(const GgufFile& file);

// Empty when the file has none.
absl::StatusOr<std::string> ReadGgufChatTemplate(const GgufFile& file);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_MODEL_GGUF_CONFIG_H_
