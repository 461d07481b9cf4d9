// Requests whose cached blocks are on their way up from a lower tier: they hold their seats, and end as others do.

#include <memory>
#include <utility>

#include "gtest/gtest.h"
#include "prefix_store/tier/host_memory.h"
#include "prefix_store/tier/host_tier.h"
#include "tests/engine/scheduler/scheduler_fixture.h"
#include "tests/prefix_store/simulated_tiers.h"
#include "tests/testing/manual_executor.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

// A scheduler over host memory whose transfers run when the test says so. The toy model's pages are not what moves, so
// what was loaded is not to be computed on.
class LoadingTest : public SchedulerTest {
 protected:
  static constexpr int kBlockTokens = 16;
  static constexpr int64_t kBlocks = 8;

  LoadingTest() : memory_(kBlockTokens, kBlocks), device_(memory_), host_memory_(NewAnonymousMemory()) {
    auto host = HostTier::Create({.capacity_blocks = 64, .block_bytes = memory_.block_bytes()}, *host_memory_);
    EXPECT_OK(host);
    host_ = *std::move(host);
    Open({.block_tokens = kBlockTokens,
          .blocks = kBlocks,
          .tiers = {.device = &device_, .host = host_.get(), .io = &io_}});
  }
  ~LoadingTest() override { Close(); }

  // Computes `prompt`, and pushes it out into host memory.
  void Spill(const std::vector<TokenId>& prompt) {
    Complete(prompt, 1);
    for (uint64_t seed = 100; store().Lookup(Scope::Public(), prompt).by_tier.device > 0; ++seed) {
      Complete(Tokens(100, seed), 1);
    }
    ASSERT_GT(store().Lookup(Scope::Public(), prompt).by_tier.host, 0);
  }

  Asked AskAndBeginLoading(const std::vector<TokenId>& prompt, absl::Time deadline) {
    GenerationRequest request = Request(prompt);
    request.deadline = deadline;
    Asked asked = Ask(std::move(request));
    Step();
    EXPECT_TRUE(scheduler().waits_for_transfers());
    EXPECT_FALSE(asked->started());
    return asked;
  }

  // All is back once the transfers, which nobody waits for any more, are done.
  void ExpectNothingHeld() {
    io_.RunAll();
    Step();
    const PrefixStoreStats stats = store().stats();
    EXPECT_EQ(stats.leased_blocks, 0);
    EXPECT_EQ(stats.reserved_blocks, 0);
    EXPECT_EQ(stats.transfers_pending, 0);
    EXPECT_OK(store().Check());
    EXPECT_TRUE(scheduler().idle());
  }

  ManualExecutor io_;
  SimulatedMemory memory_;
  SimulatedDevice device_;
  std::unique_ptr<HostMemory> host_memory_;
  std::unique_ptr<HostTier> host_;
};

TEST_F(LoadingTest, ADeadlinePassesMeanwhile) {
  const auto prompt = Tokens(80, 1);
  Spill(prompt);
  const Asked asked = AskAndBeginLoading(prompt, absl::UnixEpoch() + absl::Seconds(5));
  Advance(absl::Seconds(4));
  Step();
  EXPECT_FALSE(asked->finished());
  Advance(absl::Seconds(1));
  Step();
  ASSERT_TRUE(asked->finished());
  EXPECT_EQ(asked->reason(), FinishReason::kDeadline);
  EXPECT_FALSE(asked->started());
  EXPECT_EQ(asked->usage().prompt_tokens, 0) << "nothing was done of it";
  ExpectNothingHeld();
}

TEST_F(LoadingTest, ItIsCancelledMeanwhile) {
  const auto prompt = Tokens(80, 1);
  Spill(prompt);
  const Asked asked = AskAndBeginLoading(prompt, absl::InfiniteFuture());
  scheduler().Cancel(asked.id);
  Step();
  ASSERT_TRUE(asked->finished());
  EXPECT_EQ(asked->reason(), FinishReason::kCancelled);
  ExpectNothingHeld();
}

TEST_F(LoadingTest, OneThatWaitsForTheSameBlocksGoesOnWithoutIt) {
  const auto prompt = Tokens(80, 1);
  Spill(prompt);
  const Asked late = AskAndBeginLoading(prompt, absl::UnixEpoch() + absl::Seconds(5));
  const Asked other = AskAndBeginLoading(prompt, absl::InfiniteFuture());
  Advance(absl::Seconds(5));
  Step();
  EXPECT_TRUE(late->finished());
  EXPECT_FALSE(other->finished());
  io_.RunAll();
  Step();
  EXPECT_TRUE(other->started());
  EXPECT_EQ(other->split().cached_host_tokens, 79);
  scheduler().Cancel(other.id);
  Step();
  ExpectNothingHeld();
}

}  // namespace
}  // namespace headstart::testing
