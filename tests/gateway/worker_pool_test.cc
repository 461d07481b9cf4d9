#include "gateway/services/worker_pool.h"

#include <atomic>

#include "absl/synchronization/notification.h"
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

TEST(WorkerPoolTest, RefusesWhenItsQueueIsFull) {
  absl::Notification started;
  absl::Notification release;
  WorkerPool pool(1, 1);
  ASSERT_TRUE(pool.TryRun([&] {
    started.Notify();
    release.WaitForNotification();
  }));
  started.WaitForNotification();
  EXPECT_TRUE(pool.TryRun([] {}));
  EXPECT_FALSE(pool.TryRun([] {}));
  release.Notify();
}

}  // namespace
}  // namespace headstart::testing
