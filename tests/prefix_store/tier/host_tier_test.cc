#include "prefix_store/tier/host_tier.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "tests/prefix_store/tier/tier_blocks.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

using ::testing::_;

constexpr size_t kBlockBytes = 1000;  // no multiple of anything

// Memory that the test can reach into.
class OpenMemory final : public HostMemory {
 public:
  absl::StatusOr<std::span<std::byte>> Allocate(int64_t bytes) override {
    if (refuse) return absl::ResourceExhaustedError("none left");
    memory.resize(static_cast<size_t>(bytes));
    return std::span(memory);
  }
  void Free(std::span<std::byte> freed) override { EXPECT_EQ(freed.data(), memory.data()); }

  std::vector<std::byte> memory;
  bool refuse = false;
};

class HostTierTest : public ::testing::Test {
 protected:
  HostTierTest() {
    auto tier = HostTier::Create({.capacity_blocks = 8, .block_bytes = kBlockBytes}, memory_);
    EXPECT_OK(tier);
    tier_ = *std::move(tier);
  }

  OpenMemory memory_;
  std::unique_ptr<HostTier> tier_;
  const std::vector<TestBlock> chain_ = MakeChain({1, 2}, 8, kBlockBytes);
};

TEST_F(HostTierTest, GivesBackWhatWasStored) {
  ASSERT_OK(Store(*tier_, chain_));
  EXPECT_EQ(ReadableBlocks(*tier_, chain_), 8);
  EXPECT_EQ(Counter(*tier_, "blocks"), 8);
}

TEST_F(HostTierTest, OneFlippedBitAnywhereInABlockIsFound) {
  ASSERT_OK(Store(*tier_, chain_));
  for (size_t i = 0; i < kBlockBytes; ++i) {
    memory_.memory[3 * kBlockBytes + i] ^= std::byte{1};
    ASSERT_EQ(Fetch(*tier_, chain_[3]), absl::StatusCode::kDataLoss) << i;
    memory_.memory[3 * kBlockBytes + i] ^= std::byte{1};
  }
  EXPECT_EQ(ReadableBlocks(*tier_, chain_), 8);
  EXPECT_EQ(Counter(*tier_, "damaged_blocks"), static_cast<int64_t>(kBlockBytes));
}

TEST_F(HostTierTest, SwappedBlocksAreFound) {
  ASSERT_OK(Store(*tier_, chain_));
  std::swap_ranges(memory_.memory.begin(), memory_.memory.begin() + kBlockBytes, memory_.memory.begin() + kBlockBytes);
  EXPECT_EQ(Fetch(*tier_, chain_[0]), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Fetch(*tier_, chain_[1]), absl::StatusCode::kDataLoss);
}

TEST_F(HostTierTest, ASlotHoldsTheLastBlockThatWasCommittedToIt) {
  ASSERT_OK(Store(*tier_, chain_));
  TestBlock other = MakeChain({3, 4}, 1, kBlockBytes)[0];
  other.place.slot = SlotIndex{5};
  {
    const auto writer = tier_->NewWriter();
    writer->Add(other.place, other.meta, {other.bytes, other.checksum});
    EXPECT_EQ(Fetch(*tier_, other), absl::StatusCode::kNotFound) << "before Commit";
  }
  EXPECT_EQ(Fetch(*tier_, other), absl::StatusCode::kNotFound) << "never committed";
  EXPECT_EQ(Fetch(*tier_, chain_[5]), absl::StatusCode::kNotFound) << "overwritten";
  ASSERT_OK(Store(*tier_, std::span(&other, 1)));
  EXPECT_EQ(Fetch(*tier_, other), absl::StatusCode::kOk);
  EXPECT_EQ(Counter(*tier_, "blocks"), 8);
}

TEST_F(HostTierTest, RemovingForgetsThatBlockAlone) {
  ASSERT_OK(Store(*tier_, chain_));
  ASSERT_OK(tier_->Remove(PlacesOf(std::span(chain_).first(2))));
  BlockPlace other = chain_[2].place;
  other.key.low ^= 1;
  ASSERT_OK(tier_->Remove(std::span(&other, 1)));
  EXPECT_EQ(Fetch(*tier_, chain_[1]), absl::StatusCode::kNotFound);
  EXPECT_EQ(Fetch(*tier_, chain_[2]), absl::StatusCode::kOk);
  EXPECT_EQ(Counter(*tier_, "blocks"), 6);
}

TEST_F(HostTierTest, MemoryCountsOnceItWasTouched) {
  const int64_t empty = tier_->used_bytes();
  ASSERT_OK(Store(*tier_, std::span(chain_).first(3)));
  ASSERT_OK(tier_->Remove(PlacesOf(chain_)));
  ASSERT_OK(Store(*tier_, std::span(chain_).first(2)));
  EXPECT_EQ(tier_->used_bytes() - empty, static_cast<int64_t>(3 * kBlockBytes));
}

TEST(HostTierCreateTest, WhatCannotBeIsRefused) {
  OpenMemory memory;
  EXPECT_THAT(HostTier::Create({.capacity_blocks = 0, .block_bytes = 1}, memory),
              StatusIs(absl::StatusCode::kInvalidArgument, _));
  EXPECT_THAT(HostTier::Create({.capacity_blocks = int64_t{1} << 40, .block_bytes = int64_t{1} << 40}, memory),
              StatusIs(absl::StatusCode::kInvalidArgument, _));
  memory.refuse = true;
  EXPECT_THAT(HostTier::Create({.capacity_blocks = 1, .block_bytes = 1}, memory),
              StatusIs(absl::StatusCode::kResourceExhausted, _));
}

TEST(HostMemoryTest, AnonymousMemoryIsThereAndTooMuchIsRefused) {
  const std::unique_ptr<HostMemory> memory = NewAnonymousMemory();
  ASSERT_OK_AND_ASSIGN(const std::span<std::byte> bytes, memory->Allocate(1 << 20));
  bytes[bytes.size() - 1] = std::byte{1};
  memory->Free(bytes);
  EXPECT_THAT(memory->Allocate(int64_t{1} << 60), StatusIs(absl::StatusCode::kResourceExhausted, _));
}

}  // namespace
}  // namespace headstart::testing
