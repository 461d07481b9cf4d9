// The reference backend: every operation as its formula, in double, one row after the other. The oracle for other
// backends and the one to debug a model with; far too slow to serve.
//
// Thread-safety, ownership, errors: as Backend says. It uses no threads of its own.
// Numerics: weights as f32 (every file format converts exactly), activations f32, sums in double, K and V rounded to
// KvShape::dtype when stored.
//
//   auto backend = NewReferenceBackend();
//   auto model = Transformer::Load(*source, *backend, options);

#ifndef HEADSTART_ENGINE_BACKEND_REFERENCE_REFERENCE_BACKEND_H_
#define HEADSTART_ENGINE_BACKEND_REFERENCE_REFERENCE_BACKEND_H_

#include <memory>

#include "engine/backend/backend.h"

namespace headstart {

std::unique_ptr<Backend> NewReferenceBackend();

}  // namespace headstart

#endif  // HEADSTART_ENGINE_BACKEND_REFERENCE_REFERENCE_BACKEND_H_
