// The weights of a synthetic model, row by row, as a pure function of seed, role, layer, row and column.
//
// Thread-safety: immutable.

#ifndef HEADSTART_ENGINE_MODEL_SYNTH_WEIGHTS_H_
#define HEADSTART_ENGINE_MODEL_SYNTH_WEIGHTS_H_

#include <cstdint>
#include <span>

#include "engine/model/model_config.h"
#include "engine/model/model_source.h"

namespace headstart {

class SynthWeights {
 public:
  SynthWeights(const ModelConfig& config, uint64_t seed) : config_(config), seed_(seed) {}

  // Row `row` of the weight, in the order of Hugging Face files; a vector is one row. `values` has the row's length.
  // Values of vectors are exact in BF16, so that a file may store them wider without changing the model.
  void Row(WeightName name, int64_t row, std::span<float> values) const;

 private:
  ModelConfig config_;
  uint64_t seed_;
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_MODEL_SYNTH_WEIGHTS_H_
