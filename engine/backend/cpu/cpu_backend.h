// The CPU backend: packed weights computed in the format that the file has them in (BF16, F16, F32, Q8_0), KV pages in
// bf16 or f32, all cores, and one of several instruction-set paths chosen at run time.
//
// Thread-safety, ownership, errors: as Backend says. Its threads sleep between steps.
// Numerics: activations f32 between operations. BF16 weights take activations rounded to bf16; Q8_0 weights take
// activations quantised to int8 in blocks of 32, integer products exact; F32 and F16 weights take them as they are.
// Sums are f32, in an order that the model's sizes fix. Attention with bf16 pages rounds queries to bf16; weights of
// the values are f32.
//
//   absl::StatusOr<std::unique_ptr<Backend>> backend = NewCpuBackend({.threads = 8});

#ifndef HEADSTART_ENGINE_BACKEND_CPU_CPU_BACKEND_H_
#define HEADSTART_ENGINE_BACKEND_CPU_CPU_BACKEND_H_

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "engine/backend/backend.h"
#include "kernels/cpu/instruction_set.h"

namespace headstart {

struct CpuBackendOptions {
  // --- performance
  int threads = 0;  // 0: as many as this process may run on

  // --- behaviour: decides the last bits of every result, and enters numerics()
  std::optional<kernels::InstructionSet> isa = std::nullopt;  // the best that the processor has
};

// INVALID_ARGUMENT naming the option when the processor cannot do what is asked.
absl::StatusOr<std::unique_ptr<Backend>> NewCpuBackend(const CpuBackendOptions& options);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_BACKEND_CPU_CPU_BACKEND_H_
