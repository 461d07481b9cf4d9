#include <algorithm>

#include "absl/status/status.h"
#include "engine/model/synth.h"
#include "fmt/format.h"

namespace headstart {
namespace {

// As in the config.json of Qwen/Qwen3-0.6B.
ModelConfig Qwen3Small() {
  return {.architecture = Architecture::kQwen3,
          .layers = 28,
          .hidden_size = 1024,
          .intermediate_size = 3072,
          .heads = 16,
          .kv_heads = 8,
          .head_dim = 128,
          .vocab_size = 151936,
          .max_positions = 40960,
          .rms_norm_epsilon = 1e-6f,
          .rope_theta = 1e6,
          .qk_norm = true,
          .tied_embeddings = true};
}

// As in the config.json of HuggingFaceTB/SmolLM2-135M.
ModelConfig SmolLm2() {
  return {.architecture = Architecture::kLlama,
          .layers = 30,
          .hidden_size = 576,
          .intermediate_size = 1536,
          .heads = 9,
          .kv_heads = 3,
          .head_dim = 64,
          .vocab_size = 49152,
          .max_positions = 8192,
          .rms_norm_epsilon = 1e-5f,
          .rope_theta = 1e5,
          .tied_embeddings = true};
}

// What the tiny ones share. All rows are whole Q8_0 blocks; heads × head_dim differs from the width.
ModelConfig Tiny() {
  return {.architecture = Architecture::kQwen3,
          .layers = 2,
          .hidden_size = 64,
          .intermediate_size = 128,
          .heads = 4,
          .kv_heads = 2,
          .head_dim = 32,
          .vocab_size = 512,
          .max_positions = 2048,
          .rms_norm_epsilon = 1e-6f,
          .rope_theta = 1e6,
          .qk_norm = true,
          .tied_embeddings = true};
}

ModelConfig TinyQwen2() {
  ModelConfig config = Tiny();
  config.architecture = Architecture::kQwen2;
  config.qk_norm = false;
  config.attention_bias = true;
  config.head_dim = 16;  // Qwen2's files have no head_dim: it is the width over the heads
  return config;
}

ModelConfig TinyLlama3() {
  ModelConfig config = Tiny();
  config.architecture = Architecture::kLlama;
  config.qk_norm = false;
  config.tied_embeddings = false;
  config.kv_heads = 1;
  config.rope_theta = 5e5;
  config.rms_norm_epsilon = 1e-5f;
  // With 256 positions some pairs are kept, two are blended and the rest are stretched.
  config.rope_scaling = {.kind = RopeScalingKind::kLlama3,
                         .factor = 8,
                         .low_freq_factor = 1,
                         .high_freq_factor = 4,
                         .original_max_positions = 256};
  return config;
}

ModelConfig TinyMistral() {
  ModelConfig config = Tiny();
  config.architecture = Architecture::kMistral;
  config.qk_norm = false;
  config.tied_embeddings = false;
  config.rope_theta = 1e4;
  config.rms_norm_epsilon = 1e-5f;
  config.sliding_window = 40;  // neither a multiple of a block nor of a power of two
  return config;
}

ModelConfig TinyYarn() {
  ModelConfig config = Tiny();
  config.rope_scaling = {.kind = RopeScalingKind::kYarn, .factor = 4, .original_max_positions = 512};
  return config;
}

struct NamedShape {
  std::string_view name;
  ModelConfig (*config)();
};

constexpr NamedShape kShapes[] = {
    {"qwen3-0.6b", Qwen3Small},  {"smollm2-135m", SmolLm2},     {"tiny", Tiny},          {"tiny-qwen2", TinyQwen2},
    {"tiny-llama3", TinyLlama3}, {"tiny-mistral", TinyMistral}, {"tiny-yarn", TinyYarn},
};

}  // namespace

std::vector<std::string_view> SynthShapeNames() {
  std::vector<std::string_view> names;
  for (const NamedShape& shape : kShapes) names.push_back(shape.name);
  return names;
}

absl::StatusOr<ModelConfig> SynthShape(std::string_view name) {
  for (const NamedShape& shape : kShapes) {
    if (shape.name != name) continue;
    ModelConfig config = shape.config();
    config.name = name;
    return config;
  }
  return absl::NotFoundError(
      fmt::format("there is no synthetic shape '{}'; choose one of {}", name, fmt::join(SynthShapeNames(), ", ")));
}

}  // namespace headstart
