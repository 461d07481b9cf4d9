// Opens a Hugging Face folder: config.json, safetensors in one file or several, tokenizer.json, tokenizer_config.json,
// generation_config.json, chat_template.jinja.
//
// Thread-safety: a pure function. Errors: as OpenModel.

#ifndef HEADSTART_ENGINE_MODEL_HF_FOLDER_H_
#define HEADSTART_ENGINE_MODEL_HF_FOLDER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "engine/model/file_set.h"
#include "engine/model/model_source.h"

namespace headstart {

absl::StatusOr<std::unique_ptr<ModelSource>> OpenHuggingFaceFolder(std::shared_ptr<const FileSet> files,
                                                                   const std::string& name);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_MODEL_HF_FOLDER_H_
