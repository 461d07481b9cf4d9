// LinearRunner: activations times packed weights, on all threads.
//
// Thread-safety: none; it drives the pool.

#ifndef HEADSTART_ENGINE_BACKEND_CPU_LINEAR_H_
#define HEADSTART_ENGINE_BACKEND_CPU_LINEAR_H_

#include <cstddef>
#include <cstdint>

#include "engine/backend/backend.h"
#include "engine/backend/cpu/scratch.h"
#include "engine/backend/cpu/weights.h"
#include "engine/backend/thread_pool.h"
#include "kernels/cpu/kernel_table.h"

namespace headstart {

class LinearRunner {
 public:
  LinearRunner(const kernels::KernelTable& kernels, ThreadPool& pool) : kernels_(kernels), pool_(pool) {}

  // out = in · weightᵀ, finished as `epilogue` says; `bias` may be null unless it is asked for.
  void Run(Activations in, const CpuMatrix& weight, kernels::Epilogue epilogue, const float* bias, Activations out);

 private:
  // Rows of one kind, ready for the kernels of one weight format.
  struct Prepared {
    const std::byte* data;
    ptrdiff_t stride;  // bytes
  };

  Prepared Prepare(Activations in, kernels::WeightFormat format);
  Prepared PrepareBf16(Activations in);
  Prepared PrepareQuantized(Activations in);
  void RunGroups(const CpuMatrix& weight, int first_group, int last_group, const kernels::LinearCall& shape,
                 const Prepared* inputs) const;

  const kernels::KernelTable& kernels_;
  ThreadPool& pool_;
  Scratch<uint16_t> bf16_;
  Scratch<int8_t> quantized_;
  Scratch<float> scales_;
  Scratch<int32_t> sums_;
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_BACKEND_CPU_LINEAR_H_
