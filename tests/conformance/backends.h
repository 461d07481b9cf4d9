// The backends that conformance tests run over: the reference, and every instruction-set path of the CPU backend that
// this processor has.

#ifndef HEADSTART_TESTS_CONFORMANCE_BACKENDS_H_
#define HEADSTART_TESTS_CONFORMANCE_BACKENDS_H_

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "engine/backend/backend.h"

namespace headstart::testing {

struct BackendCase {
  std::string name;  // letters, digits and underscores: "reference", "cpu_avx2"
  std::function<std::unique_ptr<Backend>(int threads)> create;

  friend void PrintTo(const BackendCase& backend, std::ostream* out) { *out << backend.name; }
};

std::vector<BackendCase> AllBackends();

// "BF16" for KV or weights, as a part of a test's name.
std::string NameOf(DType dtype);

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_CONFORMANCE_BACKENDS_H_
