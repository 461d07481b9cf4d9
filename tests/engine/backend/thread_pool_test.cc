#include "engine/backend/thread_pool.h"

#include <atomic>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"

namespace headstart {
namespace {

class ThreadPoolTest : public ::testing::TestWithParam<int> {};

TEST_P(ThreadPoolTest, EveryIndexRunsOnce) {
  ThreadPool pool(GetParam());
  for (int count : {0, 1, 2, 3, 17, 1000}) {
    std::vector<int> runs(count, 0);
    pool.ParallelFor(count, [&](int index, int) { ++runs[index]; });
    EXPECT_EQ(runs, std::vector<int>(count, 1));
  }
}

// Plain writes by workers are read by the caller, and by other workers in the next loop: ThreadSanitizer sees a missing
// order.
TEST_P(ThreadPoolTest, LoopsSeeWhatEarlierLoopsWrote) {
  ThreadPool pool(GetParam());
  constexpr int kCount = 16, kLoops = 2000;
  std::vector<int64_t> values(kCount, 1), next(kCount);
  for (int loop = 0; loop < kLoops; ++loop) {
    pool.ParallelFor(kCount, [&](int index, int) { next[index] = values[(index + 1) % kCount] + 1; });
    values.swap(next);
  }
  EXPECT_EQ(values, std::vector<int64_t>(kCount, kLoops + 1));
}

TEST_P(ThreadPoolTest, WorkersHaveScratchToThemselves) {
  ThreadPool pool(GetParam());
  std::vector<std::atomic<bool>> busy(pool.threads());
  std::atomic<bool> shared = false;
  pool.ParallelFor(5000, [&](int, int worker) {
    if (busy[worker].exchange(true)) shared = true;
    busy[worker] = false;
  });
  EXPECT_FALSE(shared);
}

TEST_P(ThreadPoolTest, WorkersRunAtTheSameTime) {
  ThreadPool pool(GetParam());
  // Each index waits for all others to have started, which ends only when each has a thread of its own.
  std::atomic<int> started = 0;
  pool.ParallelFor(pool.threads(), [&](int, int) {
    started.fetch_add(1);
    while (started.load() < pool.threads()) std::this_thread::yield();
  });
  EXPECT_EQ(started.load(), pool.threads());
}

INSTANTIATE_TEST_SUITE_P(Threads, ThreadPoolTest, ::testing::Values(1, 2, 3, 8));

TEST(ThreadPoolLifetimeTest, EndsWhetherOrNotItWorked) {
  for (int round = 0; round < 50; ++round) {
    ThreadPool idle(3);
    ThreadPool busy(3);
    std::atomic<int> sum = 0;
    busy.ParallelFor(10, [&](int index, int) { sum += index; });
    EXPECT_EQ(sum.load(), 45);
  }
}

}  // namespace
}  // namespace headstart
