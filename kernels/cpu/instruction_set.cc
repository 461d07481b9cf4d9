#include "kernels/cpu/instruction_set.h"

#include "kernels/cpu/kernel_table.h"

#if HEADSTART_X86_KERNELS
#include <cpuid.h>
#endif

namespace headstart::kernels {
namespace {

constexpr InstructionSet kAll[] = {InstructionSet::kPortable, InstructionSet::kAvx2, InstructionSet::kAvx512Bf16};

#if HEADSTART_X86_KERNELS
// clang 14 has no name for it in __builtin_cpu_supports.
bool HasF16c() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

bool HasAvx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && HasF16c(); }

bool HasAvx512Bf16() {
  return HasAvx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bf16");
}
#endif

}  // namespace

std::string_view InstructionSetName(InstructionSet isa) {
  switch (isa) {
    case InstructionSet::kPortable:
      return "portable";
    case InstructionSet::kAvx2:
      return "avx2";
    case InstructionSet::kAvx512Bf16:
      return "avx512_bf16";
  }
  return "unknown";
}

std::optional<InstructionSet> ParseInstructionSet(std::string_view name) {
  for (InstructionSet isa : kAll) {
    if (InstructionSetName(isa) == name) return isa;
  }
  return std::nullopt;
}

bool IsSupported(InstructionSet isa) {
#if HEADSTART_X86_KERNELS
  if (isa == InstructionSet::kAvx2) return HasAvx2();
  if (isa == InstructionSet::kAvx512Bf16) return HasAvx512Bf16();
#endif
  return isa == InstructionSet::kPortable;
}

InstructionSet BestInstructionSet() { return SupportedInstructionSets().back(); }

std::vector<InstructionSet> SupportedInstructionSets() {
  std::vector<InstructionSet> supported;
  for (InstructionSet isa : kAll) {
    if (IsSupported(isa)) supported.push_back(isa);
  }
  return supported;
}

const KernelTable& KernelsFor(InstructionSet isa) {
#if HEADSTART_X86_KERNELS
  if (isa == InstructionSet::kAvx2) return Avx2Kernels();
  if (isa == InstructionSet::kAvx512Bf16) return Avx512Bf16Kernels();
#endif
  static_cast<void>(isa);
  return PortableKernels();
}

}  // namespace headstart::kernels
