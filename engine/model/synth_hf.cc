#include "engine/model/synth_plan.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace headstart {
namespace {

using nlohmann::json;

std::string_view ClassName(Architecture architecture) {
  switch (architecture) {
    case Architecture::kLlama:
      return "LlamaForCausalLM";
    case Architecture::kMistral:
      return "MistralForCausalLM";
    case Architecture::kQwen2:
      return "Qwen2ForCausalLM";
    case Architecture::kQwen3:
      return "Qwen3ForCausalLM";
  }
  return "";
}

json ScalingJson(const RopeScaling& scaling) {
  switch (scaling.kind) {
    case RopeScalingKind::kNone:
      return nullptr;
    case RopeScalingKind::kLinear:
      return {{"rope_type", "linear"}, {"factor", scaling.factor}};
    case RopeScalingKind::kLlama3:
      return {{"rope_type", "llama3"},
              {"factor", scaling.factor},
              {"low_freq_factor", scaling.low_freq_factor},
              {"high_freq_factor", scaling.high_freq_factor},
              {"original_max_position_embeddings", scaling.original_max_positions}};
    case RopeScalingKind::kYarn:
      return {{"rope_type", "yarn"},
              {"factor", scaling.factor},
              {"beta_fast", scaling.beta_fast},
              {"beta_slow", scaling.beta_slow},
              {"original_max_position_embeddings", scaling.original_max_positions}};
  }
  return nullptr;
}

std::string_view TorchName(DType dtype) {
  if (dtype == DType::kF32) return "float32";
  return dtype == DType::kF16 ? "float16" : "bfloat16";
}

void AddWindow(const ModelConfig& config, json& root) {
  const bool qwen = config.architecture == Architecture::kQwen2 || config.architecture == Architecture::kQwen3;
  root["sliding_window"] = config.sliding_window > 0 ? json(config.sliding_window) : json(nullptr);
  if (!qwen) return;
  root["use_sliding_window"] = config.sliding_window > 0;
  root["max_window_layers"] = config.sliding_window > 0 ? 0 : config.layers;
}

}  // namespace

std::string SynthConfigJson(const SynthPlan& plan) {
  const ModelConfig& config = plan.config;
  // The shortest decimal that is this float, as people write it.
  const double epsilon = std::stod(fmt::format("{}", config.rms_norm_epsilon));
  json root = {
      {"architectures", json::array({ClassName(config.architecture)})},
      {"model_type", ArchitectureName(config.architecture)},
      {"num_hidden_layers", config.layers},
      {"hidden_size", config.hidden_size},
      {"intermediate_size", config.intermediate_size},
      {"num_attention_heads", config.heads},
      {"num_key_value_heads", config.kv_heads},
      {"head_dim", config.head_dim},
      {"vocab_size", config.vocab_size},
      {"max_position_embeddings", config.max_positions},
      {"rms_norm_eps", epsilon},
      {"rope_theta", config.rope_theta},
      {"rope_scaling", ScalingJson(config.rope_scaling)},
      {"hidden_act", "silu"},
      {"attention_bias", false},
      {"tie_word_embeddings", config.tied_embeddings},
      {"torch_dtype", TorchName(plan.dtype)},
      {"bos_token_id", nullptr},
      {"eos_token_id", config.eos_token_ids.front()},
  };
  AddWindow(config, root);
  return root.dump(2);
}

std::string SynthGenerationConfigJson(const SynthPlan& plan) {
  const json root = {{"eos_token_id", plan.config.eos_token_ids}};
  return root.dump(2);
}

std::string SynthSafetensorsHeader(const SynthPlan& plan) {
  json root = {{"__metadata__", {{"format", "pt"}}}};
  int64_t offset = 0;
  for (const SynthTensor& tensor : plan.tensors) {
    root[tensor.name] = {{"dtype", DTypeName(tensor.dtype)},
                         {"shape", tensor.shape},
                         {"data_offsets", {offset, offset + tensor.bytes()}}};
    offset += tensor.bytes();
  }
  std::string text = root.dump();
  text.append((8 - text.size() % 8) % 8, ' ');  // the data begins at a multiple of 8
  const uint64_t length = text.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof(length)) + text;
}

}  // namespace headstart
