// The identity of a model's weights, for the fingerprint of what was computed with them.
//
// Thread-safety: a pure function; reads every byte of the files once.

#ifndef HEADSTART_ENGINE_MODEL_WEIGHTS_DIGEST_H_
#define HEADSTART_ENGINE_MODEL_WEIGHTS_DIGEST_H_

#include "engine/model/model_source.h"
#include "prefix_store/types.h"

namespace headstart {

// XXH3-128 over names, types, shapes and bytes of all tensors, in order of name: how they are split over files and
// where they lie in them does not matter. It tells models apart by accident of configuration; it is no proof against
// forgery.
Fingerprint WeightsDigest(const ModelSource& source);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_MODEL_WEIGHTS_DIGEST_H_
