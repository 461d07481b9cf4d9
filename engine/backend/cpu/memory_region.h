// MemoryRegion: a large, zeroed, 64-byte aligned run of memory, on huge pages where the system has them: streaming
// weights and KV through 4 KiB pages would spend a tenth of the time on translations.
//
// Thread-safety: a plain owner of memory. Move-only.
// Errors: RESOURCE_EXHAUSTED with what it was for and its size.

#ifndef HEADSTART_ENGINE_BACKEND_CPU_MEMORY_REGION_H_
#define HEADSTART_ENGINE_BACKEND_CPU_MEMORY_REGION_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"

namespace headstart {

class MemoryRegion {
 public:
  static absl::StatusOr<MemoryRegion> Allocate(int64_t bytes, std::string_view purpose);

  MemoryRegion() = default;
  MemoryRegion(MemoryRegion&& other) noexcept { *this = std::move(other); }
  MemoryRegion& operator=(MemoryRegion&& other) noexcept {
    std::swap(mapping_, other.mapping_);
    std::swap(mapped_bytes_, other.mapped_bytes_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~MemoryRegion();

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }

 private:
  void* mapping_ = nullptr;
  size_t mapped_bytes_ = 0;
  std::byte* data_ = nullptr;
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_BACKEND_CPU_MEMORY_REGION_H_
