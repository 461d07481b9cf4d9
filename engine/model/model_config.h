// ModelConfig: the architecture of a decoder-only transformer of the Llama family, as read from a model file.
//
// Thread-safety: a plain value.

#ifndef HEADSTART_ENGINE_MODEL_MODEL_CONFIG_H_
#define HEADSTART_ENGINE_MODEL_MODEL_CONFIG_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace headstart {

enum class Architecture { kLlama, kMistral, kQwen2, kQwen3 };

enum class RopeScalingKind { kNone, kLinear, kLlama3, kYarn };

// How positions beyond the trained context are squeezed into it. Fields are those of Hugging Face's `rope_scaling`.
struct RopeScaling {
  RopeScalingKind kind = RopeScalingKind::kNone;
  double factor = 1;
  double low_freq_factor = 1;      // llama3
  double high_freq_factor = 4;     // llama3
  int original_max_positions = 0;  // llama3, yarn
  double beta_fast = 32;           // yarn
  double beta_slow = 1;            // yarn
  double attention_factor = 0;     // yarn; 0: derived from factor
  bool truncate = true;            // yarn: the ramp's ends are rounded to whole dimensions
  // GGUF stores llama3's scaling as a tensor: each inverse frequency is divided by its entry. [head_dim / 2], or empty.
  std::vector<float> divisors = {};
};

struct ModelConfig {
  Architecture architecture = Architecture::kLlama;
  std::string name = {};  // for people: general.name, or the folder's name
  int layers = 0;
  int hidden_size = 0;
  int intermediate_size = 0;
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;  // apart from hidden_size / heads in Qwen3 and others
  int vocab_size = 0;
  int max_positions = 0;  // the context window
  float rms_norm_epsilon = 1e-5f;
  double rope_theta = 10000;
  RopeScaling rope_scaling = {};
  bool rope_adjacent_pairs = false;         // GGUF's permuted Llama weights
  bool attention_bias = false;              // biases on Q, K, V (Qwen2)
  bool qk_norm = false;                     // RMSNorm on each head of Q and K (Qwen3)
  bool tied_embeddings = false;             // the output matrix is the embedding table
  int sliding_window = 0;                   // 0: none
  std::vector<int32_t> eos_token_ids = {};  // what ends a generation, from the config and generation config
};

// INVALID_ARGUMENT in one sentence naming the field, its value and the limit, when the numbers contradict each other or
// exceed what can be loaded. Every reader calls it.
absl::Status ValidateModelConfig(const ModelConfig& config);

// "llama", "mistral", "qwen2", "qwen3".
std::string_view ArchitectureName(Architecture architecture);

// The inverse frequencies [head_dim / 2] with scaling applied, and the factor that multiplies cosine and sine.
// Sources: Llama 3.1's and transformers' `modeling_rope_utils`; YaRN, arXiv:2309.00071.
struct RopeFrequencies {
  std::vector<float> inverse;
  float magnitude = 1.0f;
};
// REQUIRES: config passed ValidateModelConfig.
RopeFrequencies ComputeRopeFrequencies(const ModelConfig& config);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_MODEL_MODEL_CONFIG_H_
