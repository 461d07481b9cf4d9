#include "prefix_store/transfer/io_executor.h"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "prefix_store/mutex.h"

namespace headstart {
namespace {

TEST(ThreadExecutorTest, WritesRunOneAfterTheOtherInOrder) {
  std::vector<int> order;  // unguarded: the lane is what guards it
  {
    const std::unique_ptr<IoExecutor> executor = NewThreadExecutor(2);
    for (int i = 0; i < 1000; ++i) executor->Run(IoLane::kWrite, [&order, i] { order.push_back(i); });
  }
  ASSERT_EQ(order.size(), 1000u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

// Each of the two waits until the other has begun.
TEST(ThreadExecutorTest, ReadsRunSideBySide) {
  Mutex mutex;
  int begun = 0;
  const std::unique_ptr<IoExecutor> executor = NewThreadExecutor(2);
  for (int i = 0; i < 2; ++i) {
    executor->Run(IoLane::kRead, [&] {
      MutexLock lock(mutex);
      ++begun;
      mutex.NotifyAll();
      while (begun < 2) mutex.Wait();
    });
  }
  MutexLock lock(mutex);
  while (begun < 2) mutex.Wait();
}

TEST(ThreadExecutorTest, ReadsDoNotWaitForWrites) {
  Mutex mutex;
  bool read = false;
  const std::unique_ptr<IoExecutor> executor = NewThreadExecutor(1);
  executor->Run(IoLane::kWrite, [&] {
    MutexLock lock(mutex);
    while (!read) mutex.Wait();
  });
  executor->Run(IoLane::kRead, [&] {
    MutexLock lock(mutex);
    read = true;
    mutex.NotifyAll();
  });
}

TEST(ThreadExecutorTest, TheDestructorFinishesWhatItWasGiven) {
  std::atomic<int> done = 0;
  {
    const std::unique_ptr<IoExecutor> executor = NewThreadExecutor(3);
    for (int i = 0; i < 500; ++i) executor->Run(i % 2 == 0 ? IoLane::kRead : IoLane::kWrite, [&] { ++done; });
  }
  EXPECT_EQ(done, 500);
}

}  // namespace
}  // namespace headstart
