// HostMemory: where the host tier's arena comes from. The service gives it plain memory; with a GPU it is memory that
// the device can copy from without a detour (pinned).
//
// Thread-safety: Allocate and Free may be called from any thread.
// Ownership: whoever allocates frees, with the span that Allocate returned.

#ifndef HEADSTART_PREFIX_STORE_TIER_HOST_MEMORY_H_
#define HEADSTART_PREFIX_STORE_TIER_HOST_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/statusor.h"

namespace headstart {

class HostMemory {
 public:
  virtual ~HostMemory() = default;

  // `bytes` of memory, aligned to a page. RESOURCE_EXHAUSTED when the system has not got them.
  virtual absl::StatusOr<std::span<std::byte>> Allocate(int64_t bytes) = 0;
  virtual void Free(std::span<std::byte> memory) = 0;
};

// Anonymous memory in huge pages where the system gives them. A page is taken when it is first touched.
std::unique_ptr<HostMemory> NewAnonymousMemory();

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_TIER_HOST_MEMORY_H_
