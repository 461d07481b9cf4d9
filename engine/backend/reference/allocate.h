// Memory whose shortage is a status, not an exception.

#ifndef HEADSTART_ENGINE_BACKEND_REFERENCE_ALLOCATE_H_
#define HEADSTART_ENGINE_BACKEND_REFERENCE_ALLOCATE_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fmt/format.h"

namespace headstart {

// `count` × `each` values of T, not initialised. RESOURCE_EXHAUSTED saying what it was for and how large.
template <typename T>
absl::StatusOr<std::unique_ptr<T[]>> AllocateArray(int64_t count, int64_t each, std::string_view what) {
  constexpr int64_t kLargest = std::numeric_limits<ptrdiff_t>::max() / sizeof(T);
  T* memory = nullptr;
  if (each == 0 || count <= kLargest / each) memory = new (std::nothrow) T[static_cast<size_t>(count * each)];
  if (memory == nullptr) {
    return absl::ResourceExhaustedError(
        fmt::format("{}: no memory for {} x {} values of {} bytes; use a smaller model or "
                    "fewer blocks",
                    what, count, each, sizeof(T)));
  }
  return std::unique_ptr<T[]>(memory);
}

}  // namespace headstart

#endif  // HEADSTART_ENGINE_BACKEND_REFERENCE_ALLOCATE_H_
