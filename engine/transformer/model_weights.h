// ModelWeights: a model's weights on a backend, named as the forward pass uses them.
//
// Thread-safety: immutable after loading.
// Ownership: owns the backend's handles; the backend outlives it.
// Errors: what the source or the backend answer, unchanged; NOT_FOUND names a tensor that the architecture needs.

#ifndef HEADSTART_ENGINE_TRANSFORMER_MODEL_WEIGHTS_H_
#define HEADSTART_ENGINE_TRANSFORMER_MODEL_WEIGHTS_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/backend/backend.h"
#include "engine/model/model_source.h"
#include "engine/transformer/transformer.h"

namespace headstart {

struct LayerWeights {
  std::unique_ptr<Vector> attention_norm;
  std::unique_ptr<Matrix> qkv;         // [heads·dim + 2·kv_heads·dim, hidden]
  std::unique_ptr<Vector> qkv_bias;    // null without biases
  std::unique_ptr<Vector> query_norm;  // null without QK norm
  std::unique_ptr<Vector> key_norm;
  std::unique_ptr<Matrix> attention_output;
  std::unique_ptr<Vector> mlp_norm;
  std::unique_ptr<Matrix> gate_up;  // [2·intermediate, hidden]
  std::unique_ptr<Matrix> down;
};

struct ModelWeights {
  std::unique_ptr<Matrix> embedding;
  std::vector<LayerWeights> layers;
  std::unique_ptr<Vector> output_norm;
  std::unique_ptr<Matrix> untied_output;  // null when the embedding table serves as output

  const Matrix& output() const { return untied_output == nullptr ? *embedding : *untied_output; }
};

absl::StatusOr<ModelWeights> LoadModelWeights(const ModelSource& source, Backend& backend,
                                              const LoadProgress& progress);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_TRANSFORMER_MODEL_WEIGHTS_H_
