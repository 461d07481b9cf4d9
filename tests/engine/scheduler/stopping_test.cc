// The end of a service over a disk that refuses, and its next start: what was purged stays gone, and whoever asked for
// it was told the truth.

#include <atomic>
#include <filesystem>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/scheduler/scheduler_thread.h"
#include "gmock/gmock.h"
#include "prefix_store/registry/named_records.h"
#include "prefix_store/tier/disk_tier.h"
#include "prefix_store/tier/host_memory.h"
#include "prefix_store/tier/host_tier.h"
#include "tests/engine/scheduler/scheduler_fixture.h"
#include "tests/prefix_store/simulated_tiers.h"
#include "tests/testing/faulty_file_system.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

namespace fs = std::filesystem;

using ::testing::_;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Scope kA = Scope::Tenant("a");
const Scope kB = Scope::Tenant("b");

// A scheduler's thread over a real disk tier. The toy model's pages are not what moves, so nothing that was loaded is
// computed on: what a prompt would find says enough.
class StoppingTest : public ::testing::Test {
 protected:
  static constexpr int64_t kBlocks = 64;
  static constexpr int64_t kPromptTokens = 48;

  StoppingTest() : memory_(/*block_tokens=*/16, kBlocks), device_(memory_), host_memory_(NewAnonymousMemory()) {
    std::string pattern = ::testing::TempDir() + "/headstart-stop-XXXXXX";
    root_ = mkdtemp(pattern.data());
    directory_ = root_ + "/cache";
  }
  ~StoppingTest() override {
    files_.Heal();
    Close();
    fs::remove_all(root_);
  }

  void Open() {
    events_.clear();
    auto host = HostTier::Create({.capacity_blocks = 64, .block_bytes = memory_.block_bytes()}, *host_memory_);
    ASSERT_OK(host);
    host_ = *std::move(host);
    auto disk = DiskTier::Open({.directory = directory_,
                                .capacity_bytes = 16 << 20,
                                .block_bytes = static_cast<int64_t>(memory_.block_bytes()),
                                .fingerprint = {1, 2},
                                .env = files_.env()});
    ASSERT_OK(disk);
    disk_ = *std::move(disk);
    records_ = std::make_unique<DiskNamedRecords>(*disk_);
    io_ = NewThreadExecutor(/*readers=*/1);
    const RunnerLimits limits{
        .vocab_size = 64, .max_positions = 4096, .max_step_tokens = 64, .max_logit_rows = 16, .block_tokens = 16};
    runner_ = std::make_unique<ToyRunner>(limits, kBlocks);
    thread_ = std::make_unique<SchedulerThread>(
        *runner_, tokenizer_,
        PrefixStoreOptions{.block_tokens = 16,
                           .device_blocks = kBlocks,
                           .clock = [this] { return AgeMs{now_ms_.load()}; },
                           .wall_clock = [this] { return absl::FromUnixSeconds(wall_s_); },
                           .on_event = [this](const std::string& event) { events_.push_back(event); }},
        SchedulerOptions{.max_running = 16, .step_tokens = 64}, SchedulerClocks{},
        PrefixStoreTiers{
            .device = &device_, .host = host_.get(), .disk = disk_.get(), .io = io_.get(), .fingerprint = {1, 2}},
        PrefixRegistryOptions{.records = records_.get(), .io = io_.get()});
  }

  // As at a clean stop.
  void Close() {
    thread_.reset();
    io_.reset();
    records_.reset();
    disk_.reset();
  }

  void Compute(const Scope& scope, absl::Duration ttl = absl::InfiniteDuration()) {
    std::latch done{1};
    auto sink = std::make_shared<RecordingSink>();
    sink->on_finished = [&] { done.count_down(); };
    GenerationRequest request;
    request.scope = scope;
    request.ttl = ttl;
    request.prompt = Prompt();
    request.sampling.temperature = 0;
    request.max_tokens = 1;
    request.ignore_eos = true;
    ASSERT_OK(thread_->Submit(std::move(request), sink));
    done.wait();
  }

  static std::vector<TokenId> Prompt() { return std::vector<TokenId>(kPromptTokens, TokenId{7}); }

  int64_t Cached(const Scope& scope) {
    std::latch done{1};
    int64_t tokens = 0;
    thread_->Predict(scope, Prompt(), [&](const Match& match) {
      tokens = match.matched_tokens;
      done.count_down();
    });
    done.wait();
    return tokens;
  }

  absl::Status Durably(SchedulerThread::Work work) {
    std::latch done{1};
    absl::Status result;
    thread_->CallDurably(std::move(work), [&](const absl::Status& status) {
      result = status;
      done.count_down();
    });
    done.wait();
    return result;
  }
  absl::Status Purge(const std::string& tenant) {
    return Durably([tenant](PrefixStore& store, PrefixRegistry& registry) {
      registry.RemoveTenant(tenant);
      store.PurgeTenant(tenant);
    });
  }
  absl::Status Flush() {
    return Durably([](PrefixStore& store, PrefixRegistry&) { store.Flush(); });
  }

  bool DiskIsOn() { return thread_->stats().store.disk_on; }

  // Two tenants' prompts on disk, in a service that has started anew.
  void OpenWithBoth() {
    Open();
    Compute(kA);
    Compute(kB);
    Close();
    Open();
    ASSERT_EQ(Cached(kA), kPromptTokens - 1);
    ASSERT_EQ(Cached(kB), kPromptTokens - 1);
  }

  void FillDevice() { files_.Fail({.operation = IoOperation::kWrite, .ending = "", .error = NoSpaceLeft()}); }

  std::string root_;
  std::string directory_;
  FaultyFileSystem files_;
  std::atomic<int64_t> now_ms_ = 0;
  std::atomic<int64_t> wall_s_{1'700'000'000};
  std::vector<std::string> events_;  // to be read when the thread has ended, or waits
  SimulatedMemory memory_;
  SimulatedDevice device_;
  std::unique_ptr<HostMemory> host_memory_;
  std::unique_ptr<HostTier> host_;
  std::unique_ptr<DiskTier> disk_;
  std::unique_ptr<DiskNamedRecords> records_;
  std::unique_ptr<IoExecutor> io_;
  ToyTokenizer tokenizer_{64};
  std::unique_ptr<ToyRunner> runner_;
  std::unique_ptr<SchedulerThread> thread_;
};

// Nobody asks the new server for anything.
TEST_F(StoppingTest, WhatExpiredWhileTheServiceWasDownLeavesTheDiskAtTheStart) {
  const auto on_disk = [this] { return disk_->Verify([](const BadBlock&) {})->blocks; };
  Open();
  Compute(kA, absl::Minutes(1));
  Close();
  wall_s_ += 30;
  Open();
  EXPECT_EQ(on_disk(), 3);
  Close();
  wall_s_ += 30;
  Open();
  while (on_disk() > 0) std::this_thread::yield();
}

TEST_F(StoppingTest, APurgeThatTheDiskRefusedOutlivesTheStop) {
  OpenWithBoth();
  FillDevice();
  EXPECT_THAT(Purge("a"), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("complete once this call")));
  EXPECT_EQ(Cached(kA), 0);
  Close();
  EXPECT_THAT(events_, Contains(HasSubstr("The disk cache was emptied at the stop")));
  files_.Heal();
  Open();
  EXPECT_EQ(Cached(kA), 0);
  EXPECT_EQ(Cached(kB), 0) << "a shorter cache is the price";
}

TEST_F(StoppingTest, APurgeThatTheDiskTookCostsNobodyElseAnything) {
  OpenWithBoth();
  EXPECT_OK(Purge("a"));
  Close();
  EXPECT_THAT(events_, IsEmpty());
  Open();
  EXPECT_EQ(Cached(kA), 0);
  EXPECT_EQ(Cached(kB), kPromptTokens - 1);
}

TEST_F(StoppingTest, WhenNotEvenClearingWorksTheLogSaysWhatToDelete) {
  OpenWithBoth();
  FillDevice();
  EXPECT_FALSE(Purge("a").ok());
  files_.Fail({.operation = IoOperation::kDelete, .ending = ""});
  // Writes work again, as far as the device is concerned, but nobody has tried.
  Close();
  EXPECT_THAT(events_, Contains(HasSubstr("Delete the directory of the disk cache")));
  EXPECT_THAT(events_, Contains(HasSubstr(directory_))) << "which one";
}

// What kill -9 leaves is what lies on disk at that moment.
TEST_F(StoppingTest, APurgeThatIsPendingWhenTheProcessIsKilledWasNotCalledComplete) {
  OpenWithBoth();
  FillDevice();
  EXPECT_FALSE(Purge("a").ok());
  fs::copy(directory_, root_ + "/killed", fs::copy_options::recursive);
  Close();
  files_.Heal();
  directory_ = root_ + "/killed";
  Open();
  EXPECT_EQ(Cached(kA), kPromptTokens - 1) << "nothing was promised";
  EXPECT_OK(Purge("a"));
  fs::copy(directory_, root_ + "/killed again", fs::copy_options::recursive);
  Close();
  directory_ = root_ + "/killed again";
  Open();
  EXPECT_EQ(Cached(kA), 0);
  EXPECT_EQ(Cached(kB), kPromptTokens - 1);
}

TEST_F(StoppingTest, AFlushOfAFullDiskIsComplete) {
  OpenWithBoth();
  FillDevice();
  EXPECT_OK(Flush());
  fs::copy(directory_, root_ + "/killed", fs::copy_options::recursive);
  Close();
  files_.Heal();
  for (const std::string& directory : {directory_, root_ + "/killed"}) {
    directory_ = directory;
    Open();
    EXPECT_EQ(Cached(kA), 0);
    Close();
  }
}

TEST_F(StoppingTest, StartsOnAFullDiskAndTurnsItOnWhenThereIsRoom) {
  OpenWithBoth();
  EXPECT_OK(Durably([](PrefixStore&, PrefixRegistry& registry) {
    EXPECT_OK(registry.Add({.id = "system", .tokens = Prompt(), .expires = absl::InfiniteFuture()}, absl::Now()));
  }));
  Close();
  for (const IoOperation operation : {IoOperation::kWrite, IoOperation::kRead}) {
    files_.Fail({.operation = operation, .ending = ""});
    Open();
    EXPECT_EQ(Cached(kA), operation == IoOperation::kWrite ? kPromptTokens - 1 : 0);
    EXPECT_FALSE(DiskIsOn());
    files_.Heal();
    now_ms_ += 100'000;
    while (!DiskIsOn()) std::this_thread::yield();  // nobody asks for anything meanwhile
    EXPECT_EQ(Cached(kA), kPromptTokens - 1);
    std::latch looked{1};
    thread_->Call([&](PrefixStore&, PrefixRegistry& registry) {
      EXPECT_NE(registry.Find(Scope::Public(), "system"), nullptr);
      looked.count_down();
    });
    looked.wait();
    Close();
    EXPECT_THAT(events_, Contains(HasSubstr("The disk tier is off")).Times(1));
    EXPECT_THAT(events_, Contains(HasSubstr("The disk tier is on again")).Times(1));
  }
}

}  // namespace
}  // namespace headstart::testing
