// Weights of the CPU backend: matrices packed for the kernels in the format that the file has them in, vectors as f32.
//
// Thread-safety: immutable after loading; loading uses the pool it is given.
// Errors: INVALID_ARGUMENT naming the tensor when shapes or sizes do not fit; RESOURCE_EXHAUSTED when memory is short.

#ifndef HEADSTART_ENGINE_BACKEND_CPU_WEIGHTS_H_
#define HEADSTART_ENGINE_BACKEND_CPU_WEIGHTS_H_

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/backend/backend.h"
#include "engine/backend/cpu/memory_region.h"
#include "engine/backend/thread_pool.h"
#include "kernels/cpu/kernel_table.h"

namespace headstart {

// One of the matrices stacked along the outputs, with its own format.
struct PackedPart {
  kernels::WeightFormat format;
  int first_output;  // of the whole matrix
  int outputs;
  int first_group;  // groups of 32 outputs, counted over all parts
  int groups;
  MemoryRegion memory;
};

class CpuMatrix : public Matrix {
 public:
  CpuMatrix(int outputs, int inputs, std::vector<PackedPart> parts)
      : outputs_(outputs), inputs_(inputs), parts_(std::move(parts)) {}

  int out_features() const override { return outputs_; }
  int in_features() const override { return inputs_; }

  const std::vector<PackedPart>& parts() const { return parts_; }
  int groups() const { return parts_.back().first_group + parts_.back().groups; }

  // Row `output` as f32. `out` holds in_features().
  void ReadRow(int output, float* out) const;

 private:
  int outputs_;
  int inputs_;
  std::vector<PackedPart> parts_;
};

class CpuVector : public Vector {
 public:
  explicit CpuVector(std::vector<float> values) : values_(std::move(values)) {}
  int size() const override { return static_cast<int>(values_.size()); }
  const float* data() const { return values_.data(); }

 private:
  std::vector<float> values_;
};

absl::StatusOr<std::unique_ptr<Matrix>> PackMatrix(std::span<const TensorView> stacked, ThreadPool& pool);
absl::StatusOr<std::unique_ptr<Vector>> DecodeVector(std::span<const TensorView> joined);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_BACKEND_CPU_WEIGHTS_H_
