// ModelSource: one model as it lies in files, whichever format: its architecture, its weights, and what its text layer
// needs. Hugging Face folders and GGUF files are opened alike.
//
// Thread-safety: const methods may be called from any thread.
// Ownership: the source owns the mapped files; every TensorView and string_view it gives is valid while it lives.
// Errors: NOT_FOUND for a missing file; UNIMPLEMENTED for a model or type that is not supported, naming it;
// INVALID_ARGUMENT for what is malformed, truncated or inconsistent: one sentence with file, field and limit.
//
//   auto source = OpenModel("/models/Qwen3-0.6B");          // or "/models/qwen3.gguf"
//   auto q = (*source)->Tensor({.role = WeightRole::kQuery, .layer = 0});

#ifndef HEADSTART_ENGINE_MODEL_MODEL_SOURCE_H_
#define HEADSTART_ENGINE_MODEL_MODEL_SOURCE_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/model/model_config.h"
#include "engine/model/tensor.h"
#include "engine/text/tokenizer_spec.h"

namespace headstart {

class FileSet;

enum class WeightRole {
  kEmbedding,
  kOutputNorm,
  kOutput,  // layer is ignored
  kAttentionNorm,
  kQuery,
  kKey,
  kValue,
  kAttentionOutput,
  kQueryBias,
  kKeyBias,
  kValueBias,
  kQueryNorm,
  kKeyNorm,
  kMlpNorm,
  kGate,
  kUp,
  kDown,
};

struct WeightName {
  WeightRole role;
  int layer = 0;
};

class ModelSource {
 public:
  virtual ~ModelSource() = default;

  virtual const ModelConfig& config() const = 0;

  // The weights of that role, with the shape that config() implies already checked. NOT_FOUND when the file has none.
  virtual absl::StatusOr<TensorView> Tensor(WeightName name) const = 0;

  virtual const TokenizerSpec& tokenizer() const = 0;

  // The model's Jinja chat template; empty when it has none.
  virtual const std::string& chat_template() const = 0;

  // Every tensor of the files, for digests and progress.
  virtual std::vector<TensorView> AllTensors() const = 0;
};

// Opens a folder with config.json, or a .gguf file.
absl::StatusOr<std::unique_ptr<ModelSource>> OpenModel(const std::string& path);

// Opens a model from files that need not lie on a disk (the embedded demo model, tests). `name` is for messages.
absl::StatusOr<std::unique_ptr<ModelSource>> OpenModel(std::shared_ptr<const FileSet> files, const std::string& name);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_MODEL_MODEL_SOURCE_H_
