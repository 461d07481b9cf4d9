// Weights of the reference backend: plain f32 arrays, decoded from whatever the file holds.
//
// Thread-safety: immutable after loading.
// Errors: INVALID_ARGUMENT naming the tensor when shapes or sizes do not fit; RESOURCE_EXHAUSTED with the size when
// memory is short.

#ifndef HEADSTART_ENGINE_BACKEND_REFERENCE_WEIGHTS_H_
#define HEADSTART_ENGINE_BACKEND_REFERENCE_WEIGHTS_H_

#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "engine/backend/backend.h"

namespace headstart {

struct ReferenceMatrix : Matrix {
  int out_features() const override { return out; }
  int in_features() const override { return in; }

  int out = 0;
  int in = 0;
  std::unique_ptr<float[]> values;  // [out, in]
};

struct ReferenceVector : Vector {
  int size() const override { return count; }

  int count = 0;
  std::unique_ptr<float[]> values;
};

absl::StatusOr<std::unique_ptr<ReferenceMatrix>> DecodeReferenceMatrix(std::span<const TensorView> stacked);
absl::StatusOr<std::unique_ptr<ReferenceVector>> DecodeReferenceVector(std::span<const TensorView> joined);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_BACKEND_REFERENCE_WEIGHTS_H_
