#include "prefix_store/tier/host_memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <system_error>

#include "absl/status/status.h"
#include "fmt/format.h"

namespace headstart {
namespace {

class AnonymousMemory final : public HostMemory {
 public:
  absl::StatusOr<std::span<std::byte>> Allocate(int64_t bytes) override {
    const size_t size = static_cast<size_t>(bytes);
    // No reservation: the tier's cap is the operator's promise, and pages are taken one by one as blocks arrive.
    void* const memory =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      return absl::ResourceExhaustedError(fmt::format("cannot map {} bytes for the host tier: {}; give it less memory",
                                                      bytes, std::generic_category().message(errno)));
    }
    // Advice only: without huge pages a restore spends a few percent more on address translation.
    madvise(memory, size, MADV_HUGEPAGE);
    return std::span(static_cast<std::byte*>(memory), size);
  }

  void Free(std::span<std::byte> memory) override { munmap(memory.data(), memory.size()); }
};

}  // namespace

std::unique_ptr<HostMemory> NewAnonymousMemory() { return std::make_unique<AnonymousMemory>(); }

}  // namespace headstart
