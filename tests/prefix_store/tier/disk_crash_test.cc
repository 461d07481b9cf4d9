// D1: kill -9 while blocks are being written. A batch that was reported as committed is there after the next start.

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/prefix_store/tier/disk_fixture.h"

extern char** environ;

namespace headstart::testing {
namespace {

constexpr int kBlocksPerBatch = 10;
constexpr int kReportDescriptor = 3;

class DiskCrashTest : public DiskTest {
 protected:
  DiskCrashTest() { capacity_bytes_ = 16 << 20; }

  std::vector<TestBlock> Batch(int number) const { return Chain(kBlocksPerBatch, 1000 * number); }

  // Starts this program once more, as the writer below; what it reports can be read from `*reports`.
  pid_t StartWriter(int* reports) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_adddup2(&actions, ends[1], kReportDescriptor);
    setenv("HEADSTART_CRASH_DIRECTORY", directory_.c_str(), 1);
    std::string program = "/proc/self/exe";
    std::string filter = "--gtest_filter=DiskCrashTest.DISABLED_WriteUntilKilled";
    std::string disabled = "--gtest_also_run_disabled_tests";
    char* arguments[] = {program.data(), filter.data(), disabled.data(), nullptr};
    pid_t writer = 0;
    EXPECT_EQ(posix_spawn(&writer, "/proc/self/exe", &actions, nullptr, arguments, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    *reports = ends[0];
    return writer;
  }
};

// Not a test: the process that is killed.
TEST_F(DiskCrashTest, DISABLED_WriteUntilKilled) {
  const char* const directory = getenv("HEADSTART_CRASH_DIRECTORY");
  if (directory == nullptr) GTEST_SKIP() << "run by the test below alone";
  directory_ = directory;
  Open();
  for (int i = 0;; ++i) {
    ASSERT_OK(Store(*tier_, Batch(i)));
    if (i > 40) {
      ASSERT_OK(tier_->Remove(PlacesOf(Batch(i - 41))));
    }
    if (write(kReportDescriptor, "x", 1) != 1) return;
  }
}

TEST_F(DiskCrashTest, KilledWhileWriting) {
  for (const int batches : {1, 7, 60, 200}) {
    int reports = -1;
    const pid_t writer = StartWriter(&reports);
    int reported = 0;
    for (char byte = 0; reported < batches && read(reports, &byte, 1) == 1;) ++reported;
    kill(writer, SIGKILL);
    waitpid(writer, nullptr, 0);
    for (char byte = 0; read(reports, &byte, 1) == 1;) ++reported;
    close(reports);
    ASSERT_GE(reported, batches);

    Open();
    EXPECT_EQ(Counter(*tier_, "started_empty"), 0);
    for (int i = std::max(0, reported - 40); i < reported; ++i) {
      EXPECT_EQ(ReadableBlocks(*tier_, Batch(i)), kBlocksPerBatch) << "batch " << i << " of " << reported;
    }
    for (int i = 0; i + 41 < reported; ++i) {  // D9: what was reported as removed stays so
      EXPECT_EQ(ReadableBlocks(*tier_, Batch(i)), 0) << "batch " << i << " of " << reported;
    }
    // The one that was being written is there whole or not at all.
    const int last = ReadableBlocks(*tier_, Batch(reported));
    EXPECT_TRUE(last == 0 || last == kBlocksPerBatch) << last;
    Recovered();
    EXPECT_EQ(Counter(*tier_, "bad_records"), 0);
    Close();
    std::filesystem::remove_all(directory_);
  }
}

}  // namespace
}  // namespace headstart::testing
