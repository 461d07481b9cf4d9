#include "engine/model/synth_plan.h"

#include <utility>

#include "absl/status/status.h"
#include "engine/model/tensor_layout.h"
#include "engine/model/weight_names.h"
#include "fmt/format.h"

namespace headstart {
namespace {

bool IsLlamaFile(const ModelConfig& config, SynthFormat format) {
  const bool llama = config.architecture == Architecture::kLlama || config.architecture == Architecture::kMistral;
  return llama && format == SynthFormat::kGguf;
}

SynthTensor PlanWeight(const SynthPlan& plan, SynthFormat format, WeightName weight) {
  const bool gguf = format == SynthFormat::kGguf;
  SynthTensor tensor;
  tensor.weight = weight;
  tensor.name = WeightFileName(gguf ? ModelFormat::kGguf : ModelFormat::kHuggingFace, weight);
  tensor.shape = WeightShape(plan.config, weight.role);
  // GGUF readers take vectors in F32.
  tensor.dtype = gguf && tensor.shape.size() == 1 ? DType::kF32 : plan.dtype;
  const bool rotated = weight.role == WeightRole::kQuery || weight.role == WeightRole::kKey;
  tensor.interleaved = rotated && IsLlamaFile(plan.config, format);
  return tensor;
}

// GGUF's form of llama3 scaling: unscaled frequencies over scaled ones.
SynthTensor RopeDivisors(const ModelConfig& config) {
  ModelConfig plain = config;
  plain.rope_scaling = {};
  const auto scaled = ComputeRopeFrequencies(config).inverse;
  SynthTensor tensor;
  tensor.name = "rope_freqs.weight";
  tensor.values = ComputeRopeFrequencies(plain).inverse;
  for (size_t i = 0; i < scaled.size(); ++i) tensor.values[i] /= scaled[i];
  tensor.shape = {std::ssize(tensor.values)};
  return tensor;
}

absl::StatusOr<ModelConfig> ConfigOf(const SynthOptions& options) {
  auto config = options.config.has_value() ? absl::StatusOr<ModelConfig>(*options.config) : SynthShape(options.shape);
  if (!config.ok()) return config;
  if (auto status = ValidateModelConfig(*config); !status.ok()) return status;
  if (config->vocab_size >= kMinSynthVocabulary) return config;
  return absl::InvalidArgumentError(fmt::format("vocab_size is {}; a synthetic model needs at least {} tokens",
                                                config->vocab_size, kMinSynthVocabulary));
}

absl::Status CheckTensors(const SynthPlan& plan) {
  for (const SynthTensor& tensor : plan.tensors) {
    if (TensorBytes(tensor.dtype, tensor.shape).has_value()) continue;
    return absl::InvalidArgumentError(fmt::format("{} has rows of {} weights, which are not whole blocks of {} in {}",
                                                  tensor.name, tensor.row_length(), kQ8BlockWeights,
                                                  DTypeName(tensor.dtype)));
  }
  return absl::OkStatus();
}

}  // namespace

int64_t SynthPlan::total_bytes() const {
  int64_t total = 0;
  for (const SynthTensor& tensor : tensors) total += tensor.bytes();
  return total;
}

absl::StatusOr<SynthPlan> PlanSynthModel(const SynthOptions& options) {
  auto config = ConfigOf(options);
  if (!config.ok()) return config.status();
  if (options.format == SynthFormat::kHuggingFace && options.dtype == DType::kQ8_0) {
    return absl::InvalidArgumentError("Q8_0 is a type of GGUF files: write one, whose name ends in .gguf, or choose BF16, F16 or F32");
  }
  SynthPlan plan{
      .config = *std::move(config), .seed = options.seed, .dtype = options.dtype, .tokenizer = {}, .tensors = {}};
  plan.tokenizer = MakeSynthTokenizer(plan.config.vocab_size);
  plan.config.eos_token_ids = {kSynthTurnEnd, kSynthEndOfText};
  for (const WeightName weight : WeightsOf(plan.config)) {
    plan.tensors.push_back(PlanWeight(plan, options.format, weight));
  }
  if (plan.config.rope_scaling.kind == RopeScalingKind::kLlama3 && options.format == SynthFormat::kGguf) {
    plan.tensors.push_back(RopeDivisors(plan.config));
  }
  if (auto status = CheckTensors(plan); !status.ok()) return status;
  return plan;
}

}  // namespace headstart
