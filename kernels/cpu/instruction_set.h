// InstructionSet: the paths that the CPU kernels are compiled for, and which of them this processor can run.
//
// Thread-safety: pure functions.
// Results differ in the last bits between paths, never within one: a path's name is part of what a KV block's
// fingerprint promises.
//
//   const KernelTable& kernels = KernelsFor(BestInstructionSet());

#ifndef HEADSTART_KERNELS_CPU_INSTRUCTION_SET_H_
#define HEADSTART_KERNELS_CPU_INSTRUCTION_SET_H_

#include <optional>
#include <string_view>
#include <vector>

namespace headstart::kernels {

struct KernelTable;

enum class InstructionSet {
  kPortable,    // any processor
  kAvx2,        // AVX2, FMA, F16C
  kAvx512Bf16,  // AVX-512 F/BW/DQ/VL, VNNI, BF16
};

// "portable", "avx2", "avx512_bf16".
std::string_view InstructionSetName(InstructionSet isa);
std::optional<InstructionSet> ParseInstructionSet(std::string_view name);

// Whether it was compiled in and this processor and operating system run it.
bool IsSupported(InstructionSet isa);
InstructionSet BestInstructionSet();
std::vector<InstructionSet> SupportedInstructionSets();

// REQUIRES: IsSupported(isa).
const KernelTable& KernelsFor(InstructionSet isa);

}  // namespace headstart::kernels

#endif  // HEADSTART_KERNELS_CPU_INSTRUCTION_SET_H_
