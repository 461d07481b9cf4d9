#include "gateway/files/watched_files.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "gateway/files/ticker.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/temporary_folder.h"

namespace headstart {
namespace {

using testing::TemporaryFolder;

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

absl::StatusOr<int> ParseNumbers(const std::vector<std::string>& texts) {
  int sum = 0;
  for (const std::string& text : texts) {
    if (text.find_first_not_of("0123456789") != std::string::npos) {
      return absl::InvalidArgumentError("line 1: not a number");
    }
    sum += std::stoi(text);
  }
  return sum;
}

class WatchedFilesTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_.Path(name); }
  void Write(const std::string& name, const std::string& text) { folder_.Write(name, text); }
  auto Open(const std::vector<std::string>& paths) {
    return WatchedFiles<int>::Open(paths, ParseNumbers, [this](FileNews news, const std::string& event) {
      events_.push_back((news == FileNews::kReadAnew ? "info: " : "trouble: ") + event);
    });
  }

  TemporaryFolder folder_;
  std::vector<std::string> events_;
};

TEST_F(WatchedFilesTest, ReadsAgainOnlyWhatChanged) {
  Write("a", "1");
  Write("b", "2");
  auto files = Open({Path("a"), Path("b")});
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_EQ(*(*files)->current(), 3);
  (*files)->Refresh();
  EXPECT_THAT(events_, IsEmpty());
  Write("b", "20");
  (*files)->Refresh();
  EXPECT_EQ(*(*files)->current(), 21);
  EXPECT_THAT(events_, ElementsAre(AllOf(StartsWith("info: "), HasSubstr("was read anew"))));
}

TEST_F(WatchedFilesTest, KeepsTheLastGoodVersionAndSaysOnceWhatIsWrong) {
  Write("a", "1");
  auto files = Open({Path("a")});
  ASSERT_TRUE(files.ok()) << files.status();
  const auto held = (*files)->current();
  Write("a", "x");
  (*files)->Refresh();
  (*files)->Refresh();
  EXPECT_EQ(*(*files)->current(), 1);
  EXPECT_THAT(events_, ElementsAre(AllOf(HasSubstr(Path("a") + ": line 1: not a number"), HasSubstr("last good"))));
  Write("a", "7");
  (*files)->Refresh();
  EXPECT_EQ(*(*files)->current(), 7);
  EXPECT_EQ(*held, 1);
}

TEST_F(WatchedFilesTest, OutlivesAFileThatGoesAwayAndComesBack) {
  Write("a", "1");
  auto files = Open({Path("a")});
  ASSERT_TRUE(files.ok()) << files.status();
  std::filesystem::remove(Path("a"));
  (*files)->Refresh();
  EXPECT_EQ(*(*files)->current(), 1);
  EXPECT_THAT(events_, ElementsAre(StartsWith("trouble: cannot read " + Path("a"))));
  Write("a", "2");
  (*files)->Refresh();
  EXPECT_EQ(*(*files)->current(), 2);
}

TEST_F(WatchedFilesTest, FollowsALinkThatIsReplaced) {
  Write("v1", "1");
  Write("v2", "2");
  std::filesystem::create_symlink("v1", Path("a"));
  auto files = Open({Path("a")});
  ASSERT_TRUE(files.ok()) << files.status();
  std::filesystem::create_symlink("v2", Path("b"));
  std::filesystem::rename(Path("b"), Path("a"));
  (*files)->Refresh();
  EXPECT_EQ(*(*files)->current(), 2);
}

TEST_F(WatchedFilesTest, RefusesToOpenWhatIsMissingWrongOrAFolder) {
  EXPECT_THAT(std::string(Open({Path("none")}).status().message()), HasSubstr("cannot read " + Path("none")));
  EXPECT_THAT(std::string(Open({Path("")}).status().message()), HasSubstr("is a folder"));
  Write("a", "x");
  EXPECT_THAT(std::string(Open({Path("a")}).status().message()), HasSubstr(Path("a") + ": line 1"));
}

// Nobody ever writes into the pipe: whoever waited for that would wait for good.
TEST_F(WatchedFilesTest, RefusesPipesAndDevicesWithoutReadingThem) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(std::string(Open({Path("pipe")}).status().message()), HasSubstr("is a pipe, a socket or a device"));
  EXPECT_THAT(std::string(Open({"/dev/zero"}).status().message()), HasSubstr("is a pipe, a socket or a device"));
}

TEST_F(WatchedFilesTest, APipeInPlaceOfTheFileStopsNothing) {
  Write("a", "1");
  auto files = Open({Path("a")});
  ASSERT_TRUE(files.ok()) << files.status();
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  std::filesystem::rename(Path("pipe"), Path("a"));
  (*files)->Refresh();
  EXPECT_EQ(*(*files)->current(), 1);
  EXPECT_THAT(events_, ElementsAre(HasSubstr("last good version stays")));
  Write("a", "2");
  (*files)->Refresh();
  EXPECT_EQ(*(*files)->current(), 2);
}

TEST_F(WatchedFilesTest, RefusesWhatIsTooLarge) {
  Write("a", "1");
  std::filesystem::resize_file(Path("a"), kLargestConfigurationFileBytes + 1);
  EXPECT_THAT(std::string(Open({Path("a")}).status().message()), HasSubstr("at most 16777216 are read"));
  std::filesystem::resize_file(Path("a"), kLargestConfigurationFileBytes);
  EXPECT_TRUE(ReadSmallFile(Path("a")).ok());
}

TEST_F(WatchedFilesTest, WhoMayWaitReadsPipesUpToTheSameLimit) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  std::thread writer([this] { std::ofstream(Path("pipe")) << "secret"; });
  const auto text = ReadSmallFileOrPipe(Path("pipe"));
  writer.join();
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(*text, "secret");
  EXPECT_THAT(std::string(ReadSmallFileOrPipe("/dev/zero").status().message()), HasSubstr("at most"));
}

// Counts, and lets the test wait for a number.
class Counter {
 public:
  void Count() {
    MutexLock lock(mutex_);
    ++count_;
    mutex_.NotifyAll();
  }
  void WaitFor(int count) {
    MutexLock lock(mutex_);
    while (count_ < count) mutex_.Wait();
  }

 private:
  Mutex mutex_;
  int count_ ABSL_GUARDED_BY(mutex_) = 0;
};

TEST(TickerTest, TicksWhenToldAndAgainLater) {
  Counter told, timed;
  Ticker rarely([&] { told.Count(); }, absl::Hours(1));
  rarely.TickNow();
  told.WaitFor(1);
  Ticker often([&] { timed.Count(); }, absl::Milliseconds(1));
  timed.WaitFor(3);
}

}  // namespace
}  // namespace headstart
