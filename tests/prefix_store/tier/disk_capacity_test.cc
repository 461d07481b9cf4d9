// The cap on bytes: it holds whatever is written, and within capacity_blocks() there is always room.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "prefix_store/tier/internal/space_plan.h"
#include "tests/prefix_store/tier/disk_fixture.h"

namespace headstart::testing {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMiB = 1 << 20;

// What RocksDB writes of its own between two looks at the files: a table or two and its MANIFEST.
constexpr int64_t kSlackBytes = kMiB / 2;

int64_t BytesOnDisk(const std::string& directory) {
  int64_t bytes = 0;
  std::error_code gone;  // a file may go between listing and asking
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory, gone)) {
    const auto size = entry.is_regular_file(gone) ? entry.file_size(gone) : 0;
    if (!gone) bytes += static_cast<int64_t>(size);
  }
  return bytes;
}

class DiskCapacityTest : public DiskTest {
 protected:
  DiskCapacityTest() {
    capacity_bytes_ = 10 * kMiB;
    block_bytes_ = 16 << 10;
  }

  // Blocks of a sequence of their own each; few bytes are generated, so that writing is what takes time.
  TestBlock NextBlock() {
    return MakeBlock(RootKey(fingerprint_), Scope::Public(), 0, 16 * static_cast<int>(++blocks_made_), block_bytes_);
  }

  void ExpectUnderCap() {
    const int64_t bytes = BytesOnDisk(directory_);
    most_bytes_ = std::max(most_bytes_, bytes);
    ASSERT_LE(bytes, capacity_bytes_ + kSlackBytes);
  }

  // Writes `batches` batches; before each, blocks chosen by `pick` (an index below the number of live ones) go.
  template <typename Pick>
  void Churn(int64_t total_bytes, Pick pick) {
    std::deque<TestBlock> live;
    const int64_t batch = tier_->batch_blocks();
    for (int64_t written = 0; written < total_bytes; written += batch * static_cast<int64_t>(block_bytes_)) {
      std::vector<TestBlock> fresh;
      for (int64_t i = 0; i < batch; ++i) fresh.push_back(NextBlock());
      std::vector<TestBlock> old;
      while (static_cast<int64_t>(live.size()) + batch > tier_->capacity_blocks()) {
        const auto victim = live.begin() + static_cast<std::ptrdiff_t>(pick(live.size()));
        old.push_back(std::move(*victim));
        live.erase(victim);
      }
      ASSERT_OK(tier_->Remove(PlacesOf(old)));
      ASSERT_OK(Store(*tier_, fresh));
      ExpectUnderCap();
      for (TestBlock& block : fresh) live.push_back(std::move(block));
    }
    for (const TestBlock& block : live) ASSERT_EQ(Fetch(*tier_, block), absl::StatusCode::kOk);
  }

  int64_t blocks_made_ = 0;
  int64_t most_bytes_ = 0;
};

// D3.
TEST_F(DiskCapacityTest, TenTimesTheCapWrittenOldestGoingFirst) {
  Open();
  Churn(100 * kMiB, [](size_t) { return 0; });
  RecordProperty("most_bytes", std::to_string(most_bytes_));
  EXPECT_GE(tier_->capacity_blocks() * static_cast<int64_t>(block_bytes_), capacity_bytes_ * 4 / 10);
}

// The hardest case for collecting garbage: every file has some.
TEST_F(DiskCapacityTest, TenTimesTheCapWrittenAnyGoingFirst) {
  Open();
  std::minstd_rand random(1);
  Churn(100 * kMiB, [&](size_t live) { return random() % live; });
  EXPECT_GT(Counter(*tier_, "collections"), 0);
}

TEST_F(DiskCapacityTest, WritingMoreThanFitsIsRefusedUntilSpaceIsBack) {
  Open();
  std::vector<TestBlock> live;
  absl::Status status;
  while (status.ok() && live.size() < 2000) {
    live.push_back(NextBlock());
    status = Store(*tier_, std::span(live).last(1));
    ExpectUnderCap();
  }
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("10485760")));
  EXPECT_GE(static_cast<int64_t>(live.size()) - 1, tier_->capacity_blocks());
  live.pop_back();
  for (const TestBlock& block : live) ASSERT_EQ(Fetch(*tier_, block), absl::StatusCode::kOk);

  ASSERT_OK(tier_->Remove(PlacesOf(std::span(live).first(live.size() / 2))));
  EXPECT_OK(tier_->Probe());
  EXPECT_OK(Store(*tier_, std::vector<TestBlock>{NextBlock()}));
}

TEST_F(DiskCapacityTest, ASmallerCapAfterReopeningHolds) {
  capacity_bytes_ = 20 * kMiB;
  Open();
  std::vector<TestBlock> live;
  for (int i = 0; i < 700; ++i) live.push_back(NextBlock());
  for (size_t i = 0; i < live.size(); i += 20) ASSERT_OK(Store(*tier_, std::span(live).subspan(i, 20)));
  capacity_bytes_ = 10 * kMiB;
  Reopen();
  const size_t keep = static_cast<size_t>(tier_->capacity_blocks()) / 2;
  ASSERT_OK(tier_->Remove(PlacesOf(std::span(live).subspan(keep))));
  ASSERT_OK(Store(*tier_, std::vector<TestBlock>{NextBlock()}));
  ExpectUnderCap();
  EXPECT_EQ(Fetch(*tier_, live[keep - 1]), absl::StatusCode::kOk);
}

TEST(SpacePlanTest, EverythingFitsTheCapForManySizes) {
  for (int64_t capacity = 4 * kMiB; capacity < (int64_t{4} << 40); capacity *= 3) {
    for (int64_t block = 1024; block * 8 < capacity; block *= 4) {
      const auto plan = internal::PlanSpace(capacity, block);
      if (!plan.ok()) continue;
      const int64_t blocks = plan->capacity_blocks * block;
      EXPECT_LE(blocks + 2 * (plan->write_buffer_bytes + plan->batch_bytes) + plan->collect_bytes, capacity);
      EXPECT_GE(plan->batch_blocks, 1);
      EXPECT_TRUE(block * 64 > capacity || blocks >= capacity / 8) << capacity << " " << block;
    }
  }
}

}  // namespace
}  // namespace headstart::testing
