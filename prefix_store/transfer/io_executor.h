// IoExecutor: where transfers run: threads in the service, a test's own hand in tests.
//
// Thread-safety: Run may be called from any thread.

#ifndef HEADSTART_PREFIX_STORE_TRANSFER_IO_EXECUTOR_H_
#define HEADSTART_PREFIX_STORE_TRANSFER_IO_EXECUTOR_H_

#include <cstdint>
#include <memory>

#include "absl/functional/any_invocable.h"

namespace headstart {

enum class IoLane : uint8_t {
  kRead,   // work of this lane runs side by side
  kWrite,  // work of this lane runs one after the other, in order
};

class IoExecutor {
 public:
  using Work = absl::AnyInvocable<void()>;

  virtual ~IoExecutor() = default;
  virtual void Run(IoLane lane, Work work) = 0;
};

// `readers` threads for reads and one for writes. Its destructor finishes the work it was given.
std::unique_ptr<IoExecutor> NewThreadExecutor(int readers);

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_TRANSFER_IO_EXECUTOR_H_
