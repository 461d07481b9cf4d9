#include "tests/conformance/backends.h"

#include "engine/backend/cpu/cpu_backend.h"
#include "engine/backend/reference/reference_backend.h"

namespace headstart::testing {

std::vector<BackendCase> AllBackends() {
  std::vector<BackendCase> backends;
  backends.push_back({.name = "reference", .create = [](int /*threads*/) { return NewReferenceBackend(); }});
  for (kernels::InstructionSet isa : kernels::SupportedInstructionSets()) {
    backends.push_back({.name = "cpu_" + std::string(kernels::InstructionSetName(isa)), .create = [isa](int threads) {
                          return NewCpuBackend({.threads = threads, .isa = isa}).value();
                        }});
  }
  return backends;
}

std::string NameOf(DType dtype) { return std::string(DTypeName(dtype)); }

}  // namespace headstart::testing
