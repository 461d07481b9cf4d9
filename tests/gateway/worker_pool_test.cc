#include "gateway/services/worker_pool.h"

#include <atomic>
#include <latch>

#include "gtest/gtest.h"

namespace headstart::testing {
namespace {

TEST(WorkerPoolTest, RunsWhatWasTakenBeforeItEnds) {
  std::atomic<int> done = 0;
  {
    WorkerPool pool(2, 100);
    for (int i = 0; i < 50; ++i) EXPECT_TRUE(pool.TryRun([&done] { ++done; }));
  }
  EXPECT_EQ(done, 50);
}

TEST(WorkerPoolTest, OnceStoppedItHasRunEverythingAndTakesNothing) {
  std::atomic<int> done = 0;
  WorkerPool pool(2, 100);
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(pool.TryRun([&done] { ++done; }));
  pool.Stop();
  EXPECT_EQ(done, 50);
  EXPECT_FALSE(pool.TryRun([&done] { ++done; }));
  pool.Stop();
  EXPECT_EQ(done, 50);
}

TEST(WorkerPoolTest, RefusesWhenItsQueueIsFull) {
  std::latch started(1);
  std::latch release(1);
  WorkerPool pool(1, 1);
  ASSERT_TRUE(pool.TryRun([&] {
    started.count_down();
    release.wait();
  }));
  started.wait();
  EXPECT_TRUE(pool.TryRun([] {}));
  EXPECT_FALSE(pool.TryRun([] {}));
  release.count_down();
}

}  // namespace
}  // namespace headstart::testing
