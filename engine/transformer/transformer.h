// Transformer: a model on a backend. Loads the weights once, then runs steps: the forward pass reads like the paper,
// over the operations of Backend.
//
// Thread-safety: none; one thread drives it.
// Ownership: borrows the backend; copies what it needs of the source, which may go after Load.

#ifndef HEADSTART_ENGINE_TRANSFORMER_TRANSFORMER_H_
#define HEADSTART_ENGINE_TRANSFORMER_TRANSFORMER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "engine/backend/backend.h"
#include "engine/backend/batch.h"
#include "engine/model/model_config.h"
#include "engine/model/model_source.h"
#include "engine/model_runner.h"
#include "prefix_store/types.h"

namespace headstart {

struct TransformerOptions {
  // --- behaviour: these decide bits and enter the fingerprint
  DType kv_dtype = DType::kBF16;  // kBF16 or kF32
  int block_tokens = 16;

  // --- performance
  int64_t slots = 0;          // KV pages; REQUIRED
  int max_step_tokens = 256;  // rows of a step
  int max_logit_rows = 64;    // rows of logits a step can give
};

// Called while loading with the share of the weights' bytes that is in place.
using LoadProgress = std::function<void(int64_t done_bytes, int64_t total_bytes)>;

class Transformer : public ModelRunner {
 public:
  static absl::StatusOr<std::unique_ptr<Transformer>> Load(const ModelSource& source, Backend& backend,
                                                           const TransformerOptions& options,
                                                           const LoadProgress& progress = nullptr);

  // The KV pages a model needs, before it is loaded: to turn a budget of bytes into slots.
  static KvShape KvShapeOf(const ModelConfig& config, const TransformerOptions& options);

  // Over the weights' content, the architecture, the KV shape and the backend's numerics.
  virtual Fingerprint fingerprint() const = 0;
  virtual const KvShape& kv_shape() const = 0;
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_TRANSFORMER_TRANSFORMER_H_
