// What each weight is called in each file format, and the shape that a configuration gives it.
//
// Thread-safety: pure functions.

#ifndef HEADSTART_ENGINE_MODEL_WEIGHT_NAMES_H_
#define HEADSTART_ENGINE_MODEL_WEIGHT_NAMES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engine/model/model_config.h"
#include "engine/model/model_source.h"

namespace headstart {

enum class ModelFormat { kHuggingFace, kGguf };

// "model.layers.3.self_attn.q_proj.weight", "blk.3.attn_q.weight".
std::string WeightFileName(ModelFormat format, WeightName name);

// Row-major, [out, in] or [size].
std::vector<int64_t> WeightShape(const ModelConfig& config, WeightRole role);

// Every weight that a model of this configuration has, in the order the forward pass meets them.
std::vector<WeightName> WeightsOf(const ModelConfig& config);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_MODEL_WEIGHT_NAMES_H_
