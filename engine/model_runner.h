// ModelRunner: what the scheduler asks of a model: run one ragged batch, read logits, copy KV inside device memory.
// Small, so that scheduler tests can put an arithmetic toy in its place.
//
// Thread-safety: none; the scheduler thread drives it.

#ifndef HEADSTART_ENGINE_MODEL_RUNNER_H_
#define HEADSTART_ENGINE_MODEL_RUNNER_H_

#include <span>

#include "engine/backend/batch.h"
#include "prefix_store/types.h"

namespace headstart {

struct RunnerLimits {
  int vocab_size = 0;
  int max_positions = 0;    // the context window
  int max_step_tokens = 0;  // tokens in one batch
  int max_logit_rows = 0;   // rows of logits in one batch
  int block_tokens = 0;
};

class ModelRunner {
 public:
  virtual ~ModelRunner() = default;

  virtual const RunnerLimits& limits() const = 0;

  // Computes the KV of every token of the batch into its page, and the logits of batch.logit_rows.
  // REQUIRES: the batch keeps within limits().
  virtual void Forward(const RaggedBatch& batch) = 0;

  // [vocab_size], of batch.logit_rows[i] of the last Forward; valid until the next.
  virtual std::span<const float> Logits(int i) = 0;

  virtual void CopyKv(SlotIndex from, SlotIndex to, int tokens) = 0;
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_MODEL_RUNNER_H_
