// Synthetic models: seeded random weights in the shape of a real model, for tests, benchmarks and demonstrations that
// need no download. The files are ordinary model files: other programs load them, too.
//
// The same seed, shape and type give the same model in both formats and on every machine: weights come from a
// counter-based generator in integer arithmetic. They are scaled so that logits are spread like a model's, not a
// collapse to one token.
//
// Thread-safety: pure functions but for the files they write.
// Errors: INVALID_ARGUMENT naming the option; what the system says, with the path, when a file cannot be written.
//
//   absl::Status status = WriteSynthModel({.shape = "smollm2-135m", .path = "/tmp/smollm2"});
//   auto model = OpenModel(*SynthModelFiles({.shape = "tiny"}), "tiny");

#ifndef HEADSTART_ENGINE_MODEL_SYNTH_H_
#define HEADSTART_ENGINE_MODEL_SYNTH_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/model/file_set.h"
#include "engine/model/model_config.h"
#include "engine/model/tensor.h"

namespace headstart {

enum class SynthFormat { kHuggingFace, kGguf };

struct SynthOptions {
  std::string shape = "tiny";              // one of SynthShapeNames()
  std::optional<ModelConfig> config = {};  // instead of a named shape
  uint64_t seed = 1;
  SynthFormat format = SynthFormat::kHuggingFace;
  DType dtype = DType::kBF16;  // of the matrices; Q8_0 in GGUF alone
  std::string path = {};       // the folder, or the .gguf file, to write
};

// Called now and then with the share of the weights' bytes that is written.
using SynthProgress = std::function<void(int64_t done_bytes, int64_t total_bytes)>;

// Writes a Hugging Face folder or a GGUF file; the weights appear under their name only when they are complete. Holds
// one row of weights in memory.
absl::Status WriteSynthModel(const SynthOptions& options, const SynthProgress& progress = nullptr);

// The same files in memory, for tests: `path` is not used; the GGUF file is called "model.gguf".
absl::StatusOr<std::shared_ptr<const FileSet>> SynthModelFiles(const SynthOptions& options);

// "qwen3-0.6b", "smollm2-135m", and small ones that differ in what they exercise: "tiny" (Qwen3), "tiny-qwen2"
// (biases), "tiny-llama3" (llama3 rope scaling, one KV head, untied), "tiny-mistral" (sliding window), "tiny-yarn"
// (yarn scaling).
std::vector<std::string_view> SynthShapeNames();

// NOT_FOUND, listing the names, for another one.
absl::StatusOr<ModelConfig> SynthShape(std::string_view name);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_MODEL_SYNTH_H_
