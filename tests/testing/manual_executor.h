// ManualExecutor: an IoExecutor without threads. Work waits until the test runs it, one piece at a time, in the order
// of its lane, so that every interleaving of the lanes can be written down.
//
//   ManualExecutor executor;
//   TransferQueue queue(tiers, executor, now, on_done);
//   queue.Submit(...);
//   EXPECT_TRUE(executor.RunOne(IoLane::kWrite));

#ifndef HEADSTART_TESTS_TESTING_MANUAL_EXECUTOR_H_
#define HEADSTART_TESTS_TESTING_MANUAL_EXECUTOR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>

#include "prefix_store/transfer/io_executor.h"

namespace headstart::testing {

// Thread-safety: none; a test's own thread calls everything.
class ManualExecutor final : public IoExecutor {
 public:
  void Run(IoLane lane, Work work) override { Queue(lane).push_back(std::move(work)); }

  // Runs the oldest work of `lane`; false when there is none.
  bool RunOne(IoLane lane) {
    if (Queue(lane).empty()) return false;
    Work work = std::move(Queue(lane).front());
    Queue(lane).pop_front();
    work();
    return true;
  }

  // Runs all work, also what it adds meanwhile: writes before reads.
  void RunAll() {
    while (RunOne(IoLane::kWrite) || RunOne(IoLane::kRead)) {
    }
  }

  size_t waiting(IoLane lane) const { return queues_[static_cast<size_t>(lane)].size(); }

 private:
  std::deque<Work>& Queue(IoLane lane) { return queues_[static_cast<size_t>(lane)]; }

  std::array<std::deque<Work>, 2> queues_;
};

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_TESTING_MANUAL_EXECUTOR_H_
