// RandomModelSource: a model in memory with random f32 weights of whatever architecture a config describes, for tests
// that need no file. Weights are a function of (seed, role, layer).
//
// Thread-safety: const methods may be called from any thread.
//
//   RandomModelSource source(TinyConfig(), /*seed=*/1);
//   source.Remove({.role = WeightRole::kDown, .layer = 1});   // as if the file had none

#ifndef HEADSTART_TESTS_TESTING_RANDOM_MODEL_SOURCE_H_
#define HEADSTART_TESTS_TESTING_RANDOM_MODEL_SOURCE_H_

#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "engine/model/model_source.h"
#include "fmt/format.h"

namespace headstart::testing {

// Two layers, grouped heads, sizes that are no multiples of one another.
inline ModelConfig TinyConfig() {
  ModelConfig config;
  config.name = "tiny";
  config.layers = 2;
  config.hidden_size = 32;
  config.intermediate_size = 64;
  config.heads = 4;
  config.kv_heads = 2;
  config.head_dim = 16;
  config.vocab_size = 97;
  config.max_positions = 256;
  return config;
}

class RandomModelSource : public ModelSource {
 public:
  RandomModelSource(ModelConfig config, uint32_t seed) : config_(std::move(config)), seed_(seed) {
    using enum WeightRole;
    AddMatrix({kEmbedding}, config_.vocab_size, config_.hidden_size);
    for (int layer = 0; layer < config_.layers; ++layer) AddLayer(layer);
    AddNorm({kOutputNorm}, config_.hidden_size);
    if (!config_.tied_embeddings) AddMatrix({kOutput}, config_.vocab_size, config_.hidden_size);
  }

  void Remove(WeightName name) { tensors_.erase(Key(name)); }
  void Reshape(WeightName name, std::vector<int64_t> shape) { tensors_.at(Key(name)).view.shape = std::move(shape); }
  float& Weight(WeightName name, size_t index) { return tensors_.at(Key(name)).values.at(index); }

  const ModelConfig& config() const override { return config_; }
  const TokenizerSpec& tokenizer() const override { return tokenizer_; }
  const std::string& chat_template() const override { return chat_template_; }

  absl::StatusOr<TensorView> Tensor(WeightName name) const override {
    const auto found = tensors_.find(Key(name));
    if (found == tensors_.end()) return absl::NotFoundError(fmt::format("no tensor {}", NameOf(name)));
    return found->second.view;
  }

  std::vector<TensorView> AllTensors() const override {
    std::vector<TensorView> all;
    for (const auto& [key, tensor] : tensors_) all.push_back(tensor.view);
    return all;
  }

 private:
  struct Owned {
    std::vector<float> values;
    TensorView view;
  };
  using RoleAndLayer = std::pair<WeightRole, int>;

  static RoleAndLayer Key(WeightName name) { return {name.role, name.layer}; }
  static std::string NameOf(WeightName name) {
    return fmt::format("role{}.{}", static_cast<int>(name.role), name.layer);
  }

  void AddLayer(int layer) {
    using enum WeightRole;
    const int q = config_.heads * config_.head_dim;
    const int kv = config_.kv_heads * config_.head_dim;
    AddNorm({kAttentionNorm, layer}, config_.hidden_size);
    AddMatrix({kQuery, layer}, q, config_.hidden_size);
    AddMatrix({kKey, layer}, kv, config_.hidden_size);
    AddMatrix({kValue, layer}, kv, config_.hidden_size);
    AddMatrix({kAttentionOutput, layer}, config_.hidden_size, q);
    AddNorm({kMlpNorm, layer}, config_.hidden_size);
    AddMatrix({kGate, layer}, config_.intermediate_size, config_.hidden_size);
    AddMatrix({kUp, layer}, config_.intermediate_size, config_.hidden_size);
    AddMatrix({kDown, layer}, config_.hidden_size, config_.intermediate_size);
    if (config_.qk_norm) {
      AddNorm({kQueryNorm, layer}, config_.head_dim);
      AddNorm({kKeyNorm, layer}, config_.head_dim);
    }
    if (config_.attention_bias) {
      AddNorm({kQueryBias, layer}, q);
      AddNorm({kKeyBias, layer}, kv);
      AddNorm({kValueBias, layer}, kv);
    }
  }

  // Entries of about 1 / sqrt(in), so that activations stay of order 1.
  void AddMatrix(WeightName name, int64_t out, int64_t in) { Add(name, {out, in}, 0, std::sqrt(3.0f / in)); }
  void AddNorm(WeightName name, int64_t size) { Add(name, {size}, 1, 0.5f); }

  void Add(WeightName name, std::vector<int64_t> shape, float middle, float spread) {
    std::mt19937 random(seed_ * 7919 + static_cast<uint32_t>(name.role) * 101 + static_cast<uint32_t>(name.layer));
    int64_t count = 1;
    for (int64_t size : shape) count *= size;
    Owned& owned = tensors_[Key(name)];
    owned.values.resize(static_cast<size_t>(count));
    for (float& value : owned.values) {
      value = middle + spread * (static_cast<float>(random() % 65536) / 32768 - 1);
    }
    owned.view = {.name = NameOf(name), .shape = std::move(shape), .bytes = std::as_bytes(std::span(owned.values))};
  }

  ModelConfig config_;
  uint32_t seed_;
  TokenizerSpec tokenizer_;
  std::string chat_template_;
  std::map<RoleAndLayer, Owned> tensors_;
};

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_TESTING_RANDOM_MODEL_SOURCE_H_
