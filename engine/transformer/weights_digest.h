// A digest of a model's weights.

#ifndef HEADSTART_ENGINE_TRANSFORMER_WEIGHTS_DIGEST_H_
#define HEADSTART_ENGINE_TRANSFORMER_WEIGHTS_DIGEST_H_

#include <string>

#include "engine/model/model_source.h"

namespace headstart {

// Over names, types, shapes and bytes of all tensors, whatever their order in the files.
std::string DigestOfTensors(const ModelSource& source);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_TRANSFORMER_WEIGHTS_DIGEST_H_
