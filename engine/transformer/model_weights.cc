#include "engine/transformer/model_weights.h"

#include <cstdint>
#include <initializer_list>
#include <utility>

#include "absl/status/status.h"

namespace headstart {
namespace {

// Loads one handle after the other and remembers the first error, so that the list of weights below reads as a list.
class Loader {
 public:
  Loader(const ModelSource& source, Backend& backend, const LoadProgress& progress)
      : source_(source), backend_(backend), progress_(progress) {
    for (const TensorView& tensor : source.AllTensors()) total_bytes_ += static_cast<int64_t>(tensor.bytes.size());
  }

  const absl::Status& status() const { return status_; }

  std::unique_ptr<Matrix> LoadMatrix(int layer, std::initializer_list<WeightRole> stacked) {
    return Load<Matrix>(layer, stacked, &Backend::LoadMatrix);
  }

  std::unique_ptr<Vector> LoadVector(int layer, std::initializer_list<WeightRole> joined) {
    return Load<Vector>(layer, joined, &Backend::LoadVector);
  }

 private:
  template <typename Handle>
  using LoadMethod = absl::StatusOr<std::unique_ptr<Handle>> (Backend::*)(std::span<const TensorView>);

  template <typename Handle>
  std::unique_ptr<Handle> Load(int layer, std::initializer_list<WeightRole> roles, LoadMethod<Handle> load) {
    const std::vector<TensorView> tensors = Find(layer, roles);
    if (!status_.ok()) return nullptr;
    absl::StatusOr<std::unique_ptr<Handle>> handle = (backend_.*load)(tensors);
    if (!handle.ok()) {
      status_ = handle.status();
      return nullptr;
    }
    Report(tensors);
    return *std::move(handle);
  }

  std::vector<TensorView> Find(int layer, std::initializer_list<WeightRole> roles) {
    std::vector<TensorView> tensors;
    for (WeightRole role : roles) {
      if (!status_.ok()) break;
      absl::StatusOr<TensorView> tensor = source_.Tensor({.role = role, .layer = layer});
      status_ = tensor.status();
      if (tensor.ok()) tensors.push_back(*std::move(tensor));
    }
    return tensors;
  }

  void Report(const std::vector<TensorView>& tensors) {
    for (const TensorView& tensor : tensors) done_bytes_ += static_cast<int64_t>(tensor.bytes.size());
    if (progress_) progress_(done_bytes_, total_bytes_);
  }

  const ModelSource& source_;
  Backend& backend_;
  const LoadProgress& progress_;
  absl::Status status_;
  int64_t done_bytes_ = 0;
  int64_t total_bytes_ = 0;
};

LayerWeights LoadLayer(Loader& loader, const ModelConfig& config, int layer) {
  using enum WeightRole;
  LayerWeights weights;
  weights.attention_norm = loader.LoadVector(layer, {kAttentionNorm});
  weights.qkv = loader.LoadMatrix(layer, {kQuery, kKey, kValue});
  if (config.attention_bias) weights.qkv_bias = loader.LoadVector(layer, {kQueryBias, kKeyBias, kValueBias});
  if (config.qk_norm) {
    weights.query_norm = loader.LoadVector(layer, {kQueryNorm});
    weights.key_norm = loader.LoadVector(layer, {kKeyNorm});
  }
  weights.attention_output = loader.LoadMatrix(layer, {kAttentionOutput});
  weights.mlp_norm = loader.LoadVector(layer, {kMlpNorm});
  weights.gate_up = loader.LoadMatrix(layer, {kGate, kUp});
  weights.down = loader.LoadMatrix(layer, {kDown});
  return weights;
}

}  // namespace

absl::StatusOr<ModelWeights> LoadModelWeights(const ModelSource& source, Backend& backend,
                                              const LoadProgress& progress) {
  const ModelConfig& config = source.config();
  Loader loader(source, backend, progress);
  ModelWeights weights;
  weights.embedding = loader.LoadMatrix(0, {WeightRole::kEmbedding});
  for (int layer = 0; layer < config.layers && loader.status().ok(); ++layer) {
    weights.layers.push_back(LoadLayer(loader, config, layer));
  }
  weights.output_norm = loader.LoadVector(0, {WeightRole::kOutputNorm});
  if (!config.tied_embeddings) weights.untied_output = loader.LoadMatrix(0, {WeightRole::kOutput});
  if (!loader.status().ok()) return loader.status();
  return weights;
}

}  // namespace headstart
