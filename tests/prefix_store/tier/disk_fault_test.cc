// Devices that fail: D4, at every operation of the file system.

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "tests/prefix_store/tier/disk_fixture.h"
#include "tests/testing/faulty_file_system.h"

namespace headstart::testing {
namespace {

using ::testing::_;
using ::testing::SizeIs;

class DiskFaultTest : public DiskTest {
 protected:
  DiskFaultTest() {
    capacity_bytes_ = 8 << 20;
    env_ = files_.env();
  }
  ~DiskFaultTest() override {
    files_.Heal();
    tier_.reset();  // before the files it uses
  }

  struct Batch {
    std::vector<TestBlock> blocks;
    absl::Status status;
  };

  // Stores batches until enough was written that logs were flushed to tables and blob files.
  std::vector<Batch> StoreBatches(int batches) {
    std::vector<Batch> stored;
    for (int i = 0; i < batches; ++i) {
      stored.push_back({.blocks = Chain(10, 10000 * ++sequences_), .status = absl::OkStatus()});
      stored.back().status = Store(*tier_, stored.back().blocks);
    }
    return stored;
  }

  void ExpectExactlyTheCommitted(std::span<const Batch> batches) {
    for (const Batch& batch : batches) {
      const int readable = ReadableBlocks(*tier_, batch.blocks);
      EXPECT_EQ(readable, batch.status.ok() ? 10 : 0) << batch.status;
    }
  }

  // Writes fail from the n-th operation on, are healed, and go on. Nothing that was committed is lost.
  void FailAndRecover(const IoFault& fault, absl::StatusCode expected) {
    SCOPED_TRACE("after " + std::to_string(fault.after));
    Open();
    std::vector<Batch> batches = StoreBatches(3);
    files_.Fail(fault);
    for (Batch& batch : StoreBatches(10)) batches.push_back(std::move(batch));
    const absl::Status synced = tier_->Sync();
    const bool hit = files_.failed() > 0;
    for (const Batch& batch : batches) {
      EXPECT_TRUE(batch.status.ok() || batch.status.code() == expected) << batch.status;
    }
    EXPECT_TRUE(synced.ok() || synced.code() == expected) << synced;
    ExpectExactlyTheCommitted(batches);
    files_.Heal();
    ASSERT_OK(tier_->Probe());
    for (Batch& batch : StoreBatches(3)) batches.push_back(std::move(batch));
    EXPECT_OK(batches.back().status);
    EXPECT_OK(tier_->Sync());
    ExpectExactlyTheCommitted(batches);
    Reopen();
    ExpectExactlyTheCommitted(batches);
    EXPECT_EQ(Counter(*tier_, "started_empty"), 0);
    Close();
    std::filesystem::remove_all(directory_);
    some_hit_ = some_hit_ || hit;
    all_hit_ = all_hit_ && hit;
  }

  int NamedRecords() {
    int named = 0;
    EXPECT_OK(tier_->ForEachNamed([&](std::string_view, std::string_view) { ++named; }));
    return named;
  }

  FaultyFileSystem files_;
  int sequences_ = 0;
  bool some_hit_ = false;
  bool all_hit_ = true;
};

TEST_F(DiskFaultTest, NoSpaceAtTheNthWriteThenSpaceAgain) {
  for (int64_t n = 0; n < 24; ++n) {
    FailAndRecover({.operation = IoOperation::kWrite, .after = n, .ending = "", .error = NoSpaceLeft()},
                   absl::StatusCode::kResourceExhausted);
  }
  EXPECT_TRUE(some_hit_);
}

TEST_F(DiskFaultTest, ADeviceErrorAtTheNthWriteThenNoMore) {
  for (int64_t n = 0; n < 24; ++n) {
    FailAndRecover({.operation = IoOperation::kWrite, .after = n, .ending = ""}, absl::StatusCode::kUnavailable);
  }
}

TEST_F(DiskFaultTest, OneWriteAloneFails) {
  for (int64_t n = 0; n < 24; ++n) {
    FailAndRecover({.operation = IoOperation::kWrite, .after = n, .only_once = true, .ending = ""},
                   absl::StatusCode::kUnavailable);
  }
}

TEST_F(DiskFaultTest, ADeviceErrorAtTheNthSyncThenNoMore) {
  for (int64_t n = 0; n < 6; ++n) {
    FailAndRecover({.operation = IoOperation::kSync, .after = n, .ending = ""}, absl::StatusCode::kUnavailable);
  }
}

TEST_F(DiskFaultTest, NoSpaceForTablesAndBlobs) {
  for (const std::string ending : {".sst", ".blob", ".log"}) {
    FailAndRecover({.operation = IoOperation::kWrite, .ending = ending, .error = NoSpaceLeft()},
                   absl::StatusCode::kResourceExhausted);
  }
}

TEST_F(DiskFaultTest, ProbingWhileItStillFailsSaysSo) {
  Open();
  ASSERT_OK(Store(*tier_, Chain(5)));
  files_.Fail({.operation = IoOperation::kWrite, .ending = "", .error = NoSpaceLeft()});
  EXPECT_THAT(Store(*tier_, Chain(5, 5000)), StatusIs(absl::StatusCode::kResourceExhausted, _));
  EXPECT_EQ(ReadableBlocks(*tier_, Chain(5)), 5) << "reads work while writes fail";
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(tier_->Probe().ok());
  files_.Heal();
  EXPECT_OK(tier_->Probe());
  EXPECT_OK(Store(*tier_, Chain(5, 5000)));
}

TEST_F(DiskFaultTest, ADeviceErrorOnReadingIsAShorterHitForNow) {
  Open();
  const std::vector<TestBlock> chain = Chain(10);
  ASSERT_OK(Store(*tier_, chain));
  Reopen();  // from memory to a blob file
  files_.Fail({.operation = IoOperation::kRead, .after = 3, .ending = ".blob"});
  const int readable = ReadableBlocks(*tier_, chain);
  EXPECT_LT(readable, 10);
  EXPECT_EQ(Fetch(*tier_, chain[9]), absl::StatusCode::kUnavailable);
  EXPECT_GT(Counter(*tier_, "failed_reads"), 0);
  files_.Heal();
  EXPECT_EQ(ReadableBlocks(*tier_, chain), 10);
  EXPECT_OK(Store(*tier_, Chain(3, 5000)));
}

// A device that fails or is full is no damage: nothing may be cleared for it, and the tier starts all the same.
TEST_F(DiskFaultTest, StartsOnADeviceThatFailsAndComesBackWithAllOfIt) {
  Open();
  const std::vector<TestBlock> chain = Chain(100);
  ASSERT_OK(Store(*tier_, chain));
  ASSERT_OK(tier_->PutNamed("pin", "kept"));
  Reopen();
  Close();
  for (const auto& [operation, error] :
       {std::pair(IoOperation::kRead, DeviceError()), std::pair(IoOperation::kWrite, DeviceError()),
        std::pair(IoOperation::kWrite, NoSpaceLeft()), std::pair(IoOperation::kSync, DeviceError())}) {
    for (int64_t n = 0; n < 30; ++n) {
      SCOPED_TRACE("operation " + std::to_string(static_cast<int>(operation)) + " after " + std::to_string(n));
      files_.Fail({.operation = operation, .after = n, .ending = "", .error = error});
      Open();
      ASSERT_GE(ReadableBlocks(*tier_, chain), 0);
      files_.Heal();
      ASSERT_OK(tier_->Probe());
      ASSERT_EQ(ReadableBlocks(*tier_, chain), 100);
      ASSERT_THAT(Recovered(), SizeIs(100));
      ASSERT_EQ(NamedRecords(), 1);
      ASSERT_OK(Store(*tier_, Chain(1, 5000)));
      ASSERT_OK(tier_->Remove(PlacesOf(Chain(1, 5000))));
      ASSERT_EQ(Counter(*tier_, "started_empty"), 0);
      Close();
    }
  }
}

TEST_F(DiskFaultTest, AFullDeviceIsReadFromTheStartAndWrittenOnceThereIsRoom) {
  Open();
  const std::vector<TestBlock> chain = Chain(50);
  ASSERT_OK(Store(*tier_, chain));
  ASSERT_OK(tier_->PutNamed("pin", "kept"));
  Close();
  files_.Fail({.operation = IoOperation::kWrite, .ending = "", .error = NoSpaceLeft()});
  Open();
  EXPECT_EQ(ReadableBlocks(*tier_, chain), 50);
  EXPECT_THAT(Recovered(), SizeIs(50));
  EXPECT_EQ(NamedRecords(), 1);
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(tier_->Sync(), StatusIs(absl::StatusCode::kResourceExhausted, ::testing::HasSubstr(directory_)));
    EXPECT_THAT(Store(*tier_, Chain(5, 5000)), StatusIs(absl::StatusCode::kResourceExhausted, _));
    EXPECT_THAT(tier_->PutNamed("b", "2"), StatusIs(absl::StatusCode::kResourceExhausted, _));
    EXPECT_FALSE(tier_->Probe().ok());
  }
  EXPECT_EQ(ReadableBlocks(*tier_, chain), 50);
  files_.Heal();
  ASSERT_OK(tier_->Probe());
  EXPECT_OK(Store(*tier_, Chain(5, 5000)));
  EXPECT_OK(tier_->Sync());
  EXPECT_OK(tier_->PutNamed("b", "2"));
  Reopen();
  EXPECT_EQ(ReadableBlocks(*tier_, chain), 50);
  EXPECT_EQ(NamedRecords(), 2);
}

TEST_F(DiskFaultTest, RecordsOfOthersAreRemovedOnceTheDeviceWorks) {
  Open();
  ASSERT_OK(Store(*tier_, Chain(20)));
  Close();
  fingerprint_ = {5, 6};
  files_.Fail({.operation = IoOperation::kWrite, .ending = "", .error = NoSpaceLeft()});
  Open();
  EXPECT_THAT(Recovered(), SizeIs(0));
  files_.Heal();
  ASSERT_OK(tier_->Probe());
  EXPECT_EQ(Counter(*tier_, "foreign_records"), 20);
}

TEST_F(DiskFaultTest, ANewDirectoryOnAFullDeviceIsRefused) {
  files_.Fail({.operation = IoOperation::kWrite, .ending = "", .error = NoSpaceLeft()});
  EXPECT_THAT(TryOpen(), StatusIs(absl::StatusCode::kResourceExhausted, ::testing::HasSubstr(directory_)));
  files_.Heal();
  EXPECT_OK(TryOpen());
}

// A cap larger than the device: what is on it stays good, and it is never filled so far that nothing works any more.
TEST_F(DiskFaultTest, TheLogLeavesASmallDeviceTheRoomToFlushIt) {
  constexpr int64_t kDevice = 4 << 20;
  capacity_bytes_ = int64_t{1} << 30;  // its log may be larger than the device
  files_.SetDeviceBytes(kDevice);
  Open();
  std::vector<Batch> stored;
  while (stored.empty() || stored.back().status.ok()) {
    ASSERT_LT(stored.size(), 200);
    stored.push_back(StoreBatches(1).front());
    ASSERT_LT(tier_->used_bytes(), kDevice - (400 << 10));
  }
  EXPECT_EQ(stored.back().status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_GT(stored.size(), 40) << "most of it is used";
  EXPECT_FALSE(tier_->Probe().ok()) << "there is no room for what was refused";
  ASSERT_OK(tier_->Remove(PlacesOf(stored[0].blocks)));
  EXPECT_OK(tier_->Sync());
  stored.erase(stored.begin());
  ExpectExactlyTheCommitted(stored);
  Reopen();
  ExpectExactlyTheCommitted(stored);
  files_.SetDeviceBytes(2 * kDevice);
  EXPECT_OK(tier_->Probe());
  EXPECT_OK(Store(*tier_, Chain(10, 5000)));
}

TEST_F(DiskFaultTest, AFullDeviceCanBeCleared) {
  Open();
  const std::vector<Batch> stored = StoreBatches(12);
  ASSERT_OK(tier_->PutNamed("pin", "kept"));
  const int64_t used = tier_->used_bytes();
  files_.Fail({.operation = IoOperation::kWrite, .ending = "", .error = NoSpaceLeft()});
  EXPECT_FALSE(Store(*tier_, Chain(5)).ok());
  ASSERT_OK(tier_->Clear());
  for (const Batch& batch : stored) EXPECT_EQ(ReadableBlocks(*tier_, batch.blocks), 0);
  EXPECT_LT(tier_->used_bytes(), used / 10);
  Close();  // killed before there was room
  Open();
  files_.Heal();
  ASSERT_OK(tier_->Probe());
  EXPECT_THAT(Recovered(), SizeIs(0));
  EXPECT_EQ(NamedRecords(), 1);
  EXPECT_OK(Store(*tier_, Chain(5)));
  Reopen();
  EXPECT_EQ(ReadableBlocks(*tier_, Chain(5)), 5);
}

TEST_F(DiskFaultTest, AClearThatEndsHalfwayLosesAllOrNothing) {
  for (int64_t n = 0; n < 6; ++n) {
    SCOPED_TRACE("after " + std::to_string(n));
    Open();
    const std::vector<TestBlock> chain = Chain(300);
    ASSERT_OK(Store(*tier_, chain));
    Reopen();
    ASSERT_OK(Store(*tier_, Chain(5, 5000)));  // in the log
    files_.Fail({.operation = IoOperation::kDelete, .after = n, .ending = ""});
    EXPECT_THAT(tier_->Clear(), StatusIs(absl::StatusCode::kUnavailable, ::testing::HasSubstr(directory_)));
    EXPECT_EQ(ReadableBlocks(*tier_, chain), n == 0 ? 300 : 0);
    files_.Heal();
    if (n % 2 == 0) {
      ASSERT_OK(tier_->Clear());
    } else {
      Reopen();  // as after a kill
    }
    EXPECT_THAT(Recovered(), SizeIs(0));
    EXPECT_LT(tier_->used_bytes(), 300 * 4096 / 4) << "nothing is left behind";
    EXPECT_OK(Store(*tier_, Chain(5)));
    EXPECT_EQ(Counter(*tier_, "started_empty"), 0) << "that is no damage";
    Close();
    std::filesystem::remove_all(directory_);
  }
}

TEST_F(DiskFaultTest, NamedRecordsFailAloneAndComeBack) {
  Open();
  ASSERT_OK(tier_->PutNamed("a", "1"));
  files_.Fail({.operation = IoOperation::kSync, .ending = ""});
  EXPECT_THAT(tier_->PutNamed("b", "2"), StatusIs(absl::StatusCode::kUnavailable, _));
  files_.Heal();
  ASSERT_OK(tier_->Probe());
  EXPECT_OK(tier_->PutNamed("b", "2"));
}

}  // namespace
}  // namespace headstart::testing
