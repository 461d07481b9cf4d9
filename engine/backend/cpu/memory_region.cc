#include "engine/backend/cpu/memory_region.h"

#include <sys/mman.h>

#include "absl/status/status.h"
#include "fmt/format.h"

namespace headstart {
namespace {

constexpr size_t kHugePageBytes = size_t{2} << 20;

// Vector loads of a row's last lanes may reach this far past its end.
constexpr size_t kSlackBytes = 64;

std::byte* AlignUp(void* address) {
  const auto value = reinterpret_cast<uintptr_t>(address);
  const uintptr_t padding = (kHugePageBytes - value % kHugePageBytes) % kHugePageBytes;
  return static_cast<std::byte*>(address) + padding;
}

}  // namespace

absl::StatusOr<MemoryRegion> MemoryRegion::Allocate(int64_t bytes, std::string_view purpose) {
  const size_t wanted = static_cast<size_t>(bytes) + kSlackBytes;
  // Room to start on a huge page's boundary; pages never touched cost nothing.
  const bool huge = wanted >= kHugePageBytes;
  const size_t mapped = wanted + (huge ? kHugePageBytes : 0);
  void* mapping = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) {
    return absl::ResourceExhaustedError(fmt::format("no memory for {}: {} bytes could not be mapped", purpose, bytes));
  }
  MemoryRegion region;
  region.mapping_ = mapping;
  region.mapped_bytes_ = mapped;
  region.data_ = huge ? AlignUp(mapping) : static_cast<std::byte*>(mapping);
  // Advice only: without huge pages everything works, slower.
  if (huge) madvise(region.data_, wanted, MADV_HUGEPAGE);
  return region;
}

MemoryRegion::~MemoryRegion() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_bytes_);
}

}  // namespace headstart
