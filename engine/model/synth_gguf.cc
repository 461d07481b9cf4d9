#include "engine/model/gguf_writer.h"
#include "engine/model/synth_plan.h"
#include "engine/text/gguf_tokenizer.h"
#include "fmt/format.h"

namespace headstart {
namespace {

// GGUF has no mistral: its tensors are those of llama.
std::string_view GgufArchitecture(Architecture architecture) {
  return ArchitectureName(architecture == Architecture::kMistral ? Architecture::kLlama : architecture);
}

// ggml's numbers for "mostly of this type".
int FileType(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return 0;
    case DType::kF16:
      return 1;
    case DType::kQ8_0:
      return 7;
    case DType::kBF16:
      return 32;
  }
  return 0;
}

void AddArchitecture(const SynthPlan& plan, GgufWriter& writer) {
  const ModelConfig& config = plan.config;
  const std::string_view architecture = GgufArchitecture(config.architecture);
  const auto add = [&](std::string_view key, auto value) {
    writer.Add(fmt::format("{}.{}", architecture, key), value);
  };
  writer.Add("general.architecture", architecture);
  writer.Add("general.name", config.name);
  writer.Add("general.file_type", FileType(plan.dtype));
  writer.Add("general.quantization_version", 2);
  add("context_length", config.max_positions);
  add("embedding_length", config.hidden_size);
  add("block_count", config.layers);
  add("feed_forward_length", config.intermediate_size);
  add("attention.head_count", config.heads);
  add("attention.head_count_kv", config.kv_heads);
  add("attention.key_length", config.head_dim);
  add("attention.value_length", config.head_dim);
  add("attention.layer_norm_rms_epsilon", config.rms_norm_epsilon);
  add("rope.dimension_count", config.head_dim);
  add("rope.freq_base", static_cast<float>(config.rope_theta));
  add("vocab_size", config.vocab_size);
  if (config.sliding_window > 0) add("attention.sliding_window", config.sliding_window);
}

// llama3's scaling is a tensor.
void AddScaling(const ModelConfig& config, GgufWriter& writer) {
  const RopeScaling& scaling = config.rope_scaling;
  if (scaling.kind != RopeScalingKind::kLinear && scaling.kind != RopeScalingKind::kYarn) return;
  const std::string prefix = fmt::format("{}.rope.scaling.", GgufArchitecture(config.architecture));
  writer.Add(prefix + "type", scaling.kind == RopeScalingKind::kLinear ? "linear" : "yarn");
  writer.Add(prefix + "factor", static_cast<float>(scaling.factor));
  if (scaling.kind == RopeScalingKind::kYarn) {
    writer.Add(prefix + "original_context_length", scaling.original_max_positions);
  }
}

std::vector<int32_t> TokenTypes(const SynthTokenizer& tokenizer) {
  std::vector<int32_t> types;
  for (int32_t id = 0; id < std::ssize(tokenizer.tokens); ++id) {
    const auto type = IsSynthControlToken(id) ? GgufTokenType::kControl : GgufTokenType::kNormal;
    types.push_back(static_cast<int32_t>(type));
  }
  return types;
}

void AddTokenizer(const SynthTokenizer& tokenizer, GgufWriter& writer) {
  writer.Add("tokenizer.ggml.model", "gpt2");
  writer.Add("tokenizer.ggml.pre", "qwen2");
  writer.Add("tokenizer.ggml.tokens", tokenizer.tokens);
  writer.Add("tokenizer.ggml.token_type", TokenTypes(tokenizer));
  writer.Add("tokenizer.ggml.merges", tokenizer.merges);
  writer.Add("tokenizer.ggml.eos_token_id", kSynthTurnEnd);
  writer.Add("tokenizer.ggml.eot_token_id", kSynthEndOfText);
  writer.Add("tokenizer.ggml.padding_token_id", kSynthEndOfText);
  writer.Add("tokenizer.ggml.add_bos_token", false);
  writer.Add("tokenizer.chat_template", SynthChatTemplate());
}

}  // namespace

std::string SynthGgufHeader(const SynthPlan& plan) {
  GgufWriter writer;
  AddArchitecture(plan, writer);
  AddScaling(plan.config, writer);
  AddTokenizer(plan.tokenizer, writer);
  for (const SynthTensor& tensor : plan.tensors) writer.AddTensor(tensor.name, tensor.dtype, tensor.shape);
  return writer.Header();
}

}  // namespace headstart
