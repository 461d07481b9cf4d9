#include "prefix_store/transfer/transfer_queue.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "prefix_store/tier/host_tier.h"
#include "tests/prefix_store/tier/tier_blocks.h"
#include "tests/testing/manual_executor.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr size_t kBlockBytes = 256;
constexpr Fingerprint kFingerprint{1, 2};

// A disk in memory, which fails when told to.
class FakeDisk final : public Tier {
 public:
  TierKind kind() const override { return TierKind::kDisk; }
  int64_t capacity_blocks() const override { return 100; }
  int64_t batch_blocks() const override { return 3; }
  std::vector<absl::Status> Read(std::span<const BlockPlace> places,
                                 absl::FunctionRef<void(size_t index, const BlockBytes&)> sink) override {
    std::vector<absl::Status> statuses;
    for (size_t i = 0; i < places.size(); ++i) {
      const auto found = blocks.find(places[i].key);
      statuses.push_back(found == blocks.end() ? absl::NotFoundError("no such block") : absl::OkStatus());
      if (found != blocks.end()) sink(i, {found->second.bytes, found->second.checksum});
    }
    return statuses;
  }
  std::unique_ptr<TierWriter> NewWriter() override { return std::make_unique<Writer>(*this); }
  absl::Status Remove(std::span<const BlockPlace> places) override {
    for (const BlockPlace& place : places) blocks.erase(place.key);
    return absl::OkStatus();
  }
  absl::Status Recover(absl::FunctionRef<bool(const PrefixKey&, const BlockMeta&)>) override {
    return absl::OkStatus();
  }
  absl::Status Sync() override { return absl::OkStatus(); }
  absl::Status Probe() override { return absl::UnavailableError("still failing"); }
  int64_t used_bytes() const override { return 0; }
  void VisitCounters(absl::FunctionRef<void(std::string_view name, int64_t value)>) const override {}

  std::map<PrefixKey, TestBlock> blocks;
  std::vector<size_t> commits;     // how many blocks each had
  size_t commits_that_work = 100;  // those after fail

 private:
  class Writer final : public TierWriter {
   public:
    explicit Writer(FakeDisk& disk) : disk_(disk) {}
    void Add(const BlockPlace& place, const BlockMeta& meta, const BlockBytes& bytes) override {
      added_.push_back({place, meta, {bytes.bytes.begin(), bytes.bytes.end()}, bytes.checksum});
    }
    absl::Status Commit() override {
      if (disk_.commits.size() >= disk_.commits_that_work) return absl::ResourceExhaustedError("full");
      disk_.commits.push_back(added_.size());
      for (TestBlock& block : added_) disk_.blocks[block.place.key] = std::move(block);
      return absl::OkStatus();
    }

   private:
    FakeDisk& disk_;
    std::vector<TestBlock> added_;
  };
};

class TransferQueueTest : public ::testing::Test {
 protected:
  TransferQueueTest() {
    host_ = *HostTier::Create({.capacity_blocks = 16, .block_bytes = kBlockBytes}, *memory_);
    device_ = *HostTier::Create({.capacity_blocks = 16, .block_bytes = kBlockBytes}, *memory_);
    NewQueue({.device = device_.get(), .host = host_.get(), .disk = &disk_});
  }

  void NewQueue(const TransferQueue::Tiers& tiers) {
    queue_ = std::make_unique<TransferQueue>(
        tiers, executor_, [this] { return now_ += absl::Milliseconds(5); }, [this] { ++wakes_; });
  }

  std::unique_ptr<Transfer> Make(TransferKind kind, TierKind tier, std::span<const TestBlock> blocks) {
    auto transfer = std::make_unique<Transfer>();
    transfer->kind = kind;
    transfer->tier = tier;
    for (const TestBlock& block : blocks) {
      transfer->items.push_back({.block = BlockId{block.meta.depth},
                                 .from = block.place,
                                 .to = block.place,
                                 .meta = block.meta,
                                 .status = absl::InternalError("not carried out")});
    }
    return transfer;
  }

  // Carries one transfer out and takes it back.
  std::unique_ptr<Transfer> Carry(std::unique_ptr<Transfer> transfer) {
    queue_->Submit(std::move(transfer));
    executor_.RunAll();
    std::vector<std::unique_ptr<Transfer>> done = queue_->TakeDone();
    EXPECT_THAT(done, SizeIs(1));
    return done.empty() ? nullptr : std::move(done[0]);
  }

  static std::vector<absl::StatusCode> Codes(const Transfer& transfer) {
    std::vector<absl::StatusCode> codes;
    for (const TransferItem& item : transfer.items) codes.push_back(item.status.code());
    return codes;
  }

  const std::vector<TestBlock> chain_ = MakeChain(kFingerprint, 8, kBlockBytes);
  const std::unique_ptr<HostMemory> memory_ = NewAnonymousMemory();
  std::unique_ptr<HostTier> host_;
  std::unique_ptr<HostTier> device_;  // memory with slots is what a device is here
  FakeDisk disk_;
  ManualExecutor executor_;
  absl::Time now_ = absl::UnixEpoch();
  int wakes_ = 0;
  std::unique_ptr<TransferQueue> queue_;
};

constexpr absl::StatusCode kOk = absl::StatusCode::kOk;
constexpr absl::StatusCode kNotFound = absl::StatusCode::kNotFound;
constexpr absl::StatusCode kFull = absl::StatusCode::kResourceExhausted;

TEST_F(TransferQueueTest, AStoreGoesFromHostToDiskInTheDisksBatches) {
  ASSERT_OK(Store(*host_, chain_));
  const auto done = Carry(Make(TransferKind::kStore, TierKind::kDisk, chain_));
  EXPECT_THAT(Codes(*done), ElementsAre(kOk, kOk, kOk, kOk, kOk, kOk, kOk, kOk));
  EXPECT_THAT(disk_.commits, ElementsAre(3, 3, 2));
  EXPECT_EQ(ReadableBlocks(disk_, chain_), 8);
  EXPECT_EQ(disk_.blocks[chain_[4].place.key].meta, chain_[4].meta);
  EXPECT_EQ(done->elapsed, absl::Milliseconds(5));
}

TEST_F(TransferQueueTest, ALoadGoesToTheDeviceFromEitherTier) {
  ASSERT_OK(Store(*host_, std::span(chain_).first(2)));
  ASSERT_OK(Store(disk_, std::span(chain_).last(6)));
  Carry(Make(TransferKind::kLoad, TierKind::kHost, std::span(chain_).first(2)));
  Carry(Make(TransferKind::kLoad, TierKind::kDisk, std::span(chain_).last(6)));
  EXPECT_EQ(ReadableBlocks(*device_, chain_), 8);
}

TEST_F(TransferQueueTest, ABlockThatCannotBeReadFailsAlone) {
  ASSERT_OK(Store(disk_, chain_));
  disk_.blocks.erase(chain_[1].place.key);
  const auto done = Carry(Make(TransferKind::kLoad, TierKind::kDisk, std::span(chain_).first(3)));
  EXPECT_THAT(Codes(*done), ElementsAre(kOk, kNotFound, kOk));
  EXPECT_EQ(Fetch(*device_, chain_[1]), kNotFound);
}

TEST_F(TransferQueueTest, AfterABatchThatCouldNotBeWrittenTheRestIsNotTried) {
  ASSERT_OK(Store(*host_, chain_));
  disk_.commits_that_work = 1;
  const auto done = Carry(Make(TransferKind::kStore, TierKind::kDisk, chain_));
  EXPECT_THAT(Codes(*done), ElementsAre(kOk, kOk, kOk, kFull, kFull, kFull, kFull, kFull));
  EXPECT_THAT(disk_.commits, ElementsAre(3));
}

TEST_F(TransferQueueTest, ABlockThatCouldNotBeReadKeepsItsReasonWhenTheOthersCannotBeWritten) {
  ASSERT_OK(Store(*host_, std::span(chain_).first(2)));
  disk_.commits_that_work = 0;
  const auto done = Carry(Make(TransferKind::kStore, TierKind::kDisk, std::span(chain_).first(3)));
  EXPECT_THAT(Codes(*done), ElementsAre(kFull, kFull, kNotFound));
}

TEST_F(TransferQueueTest, ARemovalTakesBlocksFromDisk) {
  ASSERT_OK(Store(disk_, chain_));
  const auto done = Carry(Make(TransferKind::kRemove, TierKind::kDisk, std::span(chain_).last(7)));
  EXPECT_THAT(Codes(*done), ElementsAre(kOk, kOk, kOk, kOk, kOk, kOk, kOk));
  EXPECT_THAT(disk_.blocks, SizeIs(1));
}

TEST_F(TransferQueueTest, AProbeHasAStatusOfItsOwn) {
  EXPECT_EQ(Carry(Make(TransferKind::kProbe, TierKind::kDisk, {}))->status.code(), absl::StatusCode::kUnavailable);
}

TEST_F(TransferQueueTest, ATransferToATierThatIsNotThereFails) {
  NewQueue({.device = device_.get(), .host = host_.get(), .disk = nullptr});
  for (const TransferKind kind : {TransferKind::kLoad, TransferKind::kStore, TransferKind::kRemove}) {
    const auto done = Carry(Make(kind, TierKind::kDisk, std::span(chain_).first(1)));
    EXPECT_THAT(Codes(*done), ElementsAre(absl::StatusCode::kFailedPrecondition));
  }
}

TEST_F(TransferQueueTest, PendingUntilTakenBack) {
  ASSERT_OK(Store(disk_, chain_));
  queue_->Submit(Make(TransferKind::kLoad, TierKind::kDisk, chain_));
  queue_->Submit(Make(TransferKind::kRemove, TierKind::kDisk, chain_));
  EXPECT_EQ(queue_->pending(), 2);
  EXPECT_THAT(queue_->TakeDone(), IsEmpty());
  EXPECT_EQ(wakes_, 0);
  EXPECT_TRUE(executor_.RunOne(IoLane::kRead));
  EXPECT_EQ(wakes_, 1);
  EXPECT_EQ(queue_->pending(), 2);
  EXPECT_THAT(queue_->TakeDone(), SizeIs(1));
  EXPECT_EQ(queue_->pending(), 1);
  EXPECT_FALSE(executor_.RunOne(IoLane::kRead));
  EXPECT_TRUE(executor_.RunOne(IoLane::kWrite));
  EXPECT_THAT(queue_->TakeDone(), SizeIs(1));
  EXPECT_EQ(queue_->pending(), 0);
}

TEST_F(TransferQueueTest, WhatHasNotBegunWhenTheQueueEndsIsDropped) {
  ASSERT_OK(Store(disk_, chain_));
  queue_->Submit(Make(TransferKind::kRemove, TierKind::kDisk, chain_));
  queue_.reset();
  executor_.RunAll();
  EXPECT_THAT(disk_.blocks, SizeIs(8));
  EXPECT_EQ(wakes_, 0);
}

TEST_F(TransferQueueTest, ManyTransfersOnThreads) {
  ASSERT_OK(Store(disk_, chain_));
  const std::unique_ptr<IoExecutor> threads = NewThreadExecutor(3);
  std::atomic<int> wakes = 0;
  TransferQueue queue(
      {.device = device_.get(), .host = host_.get(), .disk = &disk_}, *threads, [] { return absl::UnixEpoch(); },
      [&] { ++wakes; });
  // Each load has slots of its own: the blocks of its own round.
  for (int round = 0; round < 200; ++round) {
    for (size_t i = 0; i < chain_.size(); ++i) {
      queue.Submit(Make(TransferKind::kLoad, TierKind::kDisk, std::span(chain_).subspan(i, 1)));
    }
    size_t taken = 0;
    while (taken < chain_.size()) {
      for (const auto& transfer : queue.TakeDone()) {
        EXPECT_OK(transfer->items[0].status);
        ++taken;
      }
      std::this_thread::yield();
    }
  }
  EXPECT_EQ(queue.pending(), 0);
  EXPECT_EQ(ReadableBlocks(*device_, chain_), 8);
}

}  // namespace
}  // namespace headstart::testing
