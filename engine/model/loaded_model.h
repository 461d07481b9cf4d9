// The one implementation of ModelSource: what a reader of any format found, checked as a whole.
//
// Thread-safety: immutable after Create.

#ifndef HEADSTART_ENGINE_MODEL_LOADED_MODEL_H_
#define HEADSTART_ENGINE_MODEL_LOADED_MODEL_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/model/file_set.h"
#include "engine/model/model_source.h"
#include "engine/model/weight_names.h"

namespace headstart {

struct ModelParts {
  std::shared_ptr<const FileSet> files;  // keeps the tensors' bytes
  std::string path;                      // for messages
  ModelFormat format = ModelFormat::kHuggingFace;
  ModelConfig config;
  TokenizerSpec tokenizer;
  std::string chat_template;
  std::vector<TensorView> tensors;
  std::map<std::string, std::string, std::less<>> unsupported_tensors;  // name to type
};

// Checks that every weight the configuration implies is there in a type and shape that can be computed with, so that
// loading cannot fail half-way. INVALID_ARGUMENT or UNIMPLEMENTED naming the tensor.
absl::StatusOr<std::unique_ptr<ModelSource>> AssembleModel(ModelParts parts);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_MODEL_LOADED_MODEL_H_
