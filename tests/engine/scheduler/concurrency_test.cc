// Requests beside each other: what they share is computed once, and none stands in another's way for long.

#include <algorithm>

#include "tests/engine/scheduler/scheduler_fixture.h"

namespace headstart::testing {
namespace {

class ConcurrencyTest : public SchedulerTest {
 protected:
  std::vector<Asked> AskMany(int count, const std::vector<TokenId>& prompt, int64_t answer) {
    std::vector<Asked> asked;
    for (int i = 0; i < count; ++i) asked.push_back(Ask(prompt, answer));
    return asked;
  }
  int StepsUntilFirstToken(const Asked& asked) {
    int steps = 0;
    for (; asked->tokens().empty(); ++steps) Step();
    return steps;
  }
};

TEST_F(ConcurrencyTest, C1_SixtyFourIdenticalPromptsAreComputedOnce) {
  const auto asked = AskMany(64, Tokens(300, 1), 8);
  Step();
  Step();
  EXPECT_EQ(scheduler().stats().waiting_for_prefix, 63);
  Run();
  int64_t computed = 0;
  for (const Asked& each : asked) {
    ExpectRight(each);
    computed += each->usage().computed_prompt_tokens;
  }
  // The last prompt token's logits are everybody's own.
  EXPECT_EQ(computed, 300 + 63);
  EXPECT_EQ(scheduler().stats().waiting_for_prefix, 0);
}

TEST_F(ConcurrencyTest, C1_EightTimesAThousandTokens) {
  // Whatever the size of a step leaves for the last one.
  for (const int step_tokens : {64, 101, 128, 253, 256, 1013}) {
    Open({.scheduler = {.max_running = 16, .step_tokens = step_tokens}});
    AskMany(8, Tokens(1024, 1), 1);
    Run();
    EXPECT_LE(runner().computed_tokens(), 1024 + setup().block_tokens) << step_tokens;
  }
}

TEST_F(ConcurrencyTest, C1_ACommonBeginningIsComputedOnceAndTheRestByEach) {
  const auto common = Tokens(640, 1);
  std::vector<Asked> asked;
  for (uint64_t i = 0; i < 10; ++i) asked.push_back(Ask(Join(common, Tokens(20, 10 + i)), 4));
  Run();
  for (const Asked& each : asked) ExpectRight(each);
  EXPECT_EQ(scheduler().stats().prompt_tokens_computed, 640 + 10 * 20);
}

TEST_F(ConcurrencyTest, C2_WhenTheOwnerIsCancelledAWaiterTakesOver) {
  const auto asked = AskMany(5, Tokens(1000, 1), 4);
  Step();
  ASSERT_TRUE(asked[0]->started());
  scheduler().Cancel(asked[0].id);
  Run();
  for (size_t i = 1; i < asked.size(); ++i) ExpectRight(asked[i]);
  // What the owner had computed is not computed again.
  EXPECT_EQ(scheduler().stats().prompt_tokens_computed, 1000 + 3);
  ExpectSoundStore();
}

TEST_F(ConcurrencyTest, NobodyWaitsForOneThatDoesNotWrite) {
  GenerationRequest request = Request(Tokens(600, 1));
  request.write_cache = false;
  const Asked silent = Ask(request);
  const Asked other = Ask(Tokens(600, 1));
  Step();
  EXPECT_TRUE(other->started());
  Run();
  ExpectRight(silent);
  ExpectRight(other);
}

TEST_F(ConcurrencyTest, NobodyWaitsForAnotherTenant) {
  for (const char* tenant : {"a", "b"}) {
    GenerationRequest request = Request(Tokens(600, 1));
    request.scope = Scope::Tenant(tenant);
    Ask(request);
  }
  Step();
  EXPECT_EQ(scheduler().stats().running, 2);
  EXPECT_EQ(scheduler().stats().waiting_for_prefix, 0);
}

// The toy fails the test when a position is read in the step that another sequence computes it in.
TEST_F(ConcurrencyTest, C3_NothingIsReadBeforeItsBytesAreThere) {
  for (const int64_t step_tokens : {16, 23, 64, 128}) {
    Open({.scheduler = {.max_running = 16, .step_tokens = static_cast<int>(step_tokens)}});
    std::vector<Asked> asked;
    for (uint64_t i = 0; i < 40; ++i) {
      asked.push_back(Ask(Join(Tokens(10 * (i % 9), 1), Tokens(1 + i, i)), 6));
      Step();
    }
    Run();
    for (const Asked& each : asked) ExpectRight(each);
  }
}

TEST_F(ConcurrencyTest, C5_FlushWhileRequestsRun) {
  std::vector<Asked> asked;
  for (uint64_t i = 0; i < 20; ++i) {
    asked.push_back(Ask(Join(Tokens(100, 1), Tokens(20, i)), 20));
    Step();
    if (i % 5 == 4) {
      const int64_t evictable = store().stats().evictable_blocks;
      EXPECT_EQ(store().Flush(), evictable);
    }
  }
  Run();
  for (const Asked& each : asked) ExpectRight(each);
  ExpectSoundStore();
}

TEST_F(ConcurrencyTest, C6_AWarmRequestIsNotHeldUpByAHugeColdOne) {
  Open({.blocks = 2000, .max_positions = 30000});
  const auto prefix = Tokens(512, 1);
  Complete(prefix, 1);
  const Asked huge = Ask(Tokens(20000, 2), 1);
  Step();
  const Asked warm = Ask(Join(prefix, Tokens(32, 3)), 1);
  EXPECT_EQ(StepsUntilFirstToken(warm), 1);
  EXPECT_TRUE(huge->tokens().empty());
}

TEST_F(ConcurrencyTest, C6_NorByManyLongOnes) {
  Open({.blocks = 4000, .max_positions = 30000});
  const auto prefix = Tokens(512, 1);
  Complete(prefix, 1);
  for (uint64_t i = 0; i < 10; ++i) Ask(Tokens(5000, 10 + i), 1);
  Step();
  EXPECT_EQ(scheduler().stats().running, setup().scheduler.max_long_prefills);
  EXPECT_LE(StepsUntilFirstToken(Ask(Join(prefix, Tokens(32, 3)), 1)), 2);
}

// Warm requests arrive at every step and take every seat; the cold one gets one when it is past its age cap, and not
// before.
TEST_F(ConcurrencyTest, C6_AColdRequestIsNotStarvedPastItsAgeCap) {
  for (const absl::Duration age_cap : {absl::Seconds(2), absl::InfiniteDuration()}) {
    SchedulerOptions options = setup().scheduler;
    options.max_running = 2;
    options.age_cap = age_cap;
    Open({.scheduler = options});
    const auto prefix = Tokens(64, 1);
    Complete(prefix, 1);
    for (uint64_t i = 0; i < 4; ++i) Ask(Join(prefix, Tokens(4, i)), 3);
    const Asked cold = Ask(Tokens(100, 2), 1);
    absl::Duration waited;
    for (uint64_t i = 0; !cold->started() && waited < absl::Seconds(10); ++i) {
      Ask(Join(prefix, Tokens(4, 100 + i)), 3);
      Step();
      Advance(absl::Milliseconds(100));
      waited += absl::Milliseconds(100);
    }
    EXPECT_EQ(cold->started(), age_cap < absl::InfiniteDuration());
    if (cold->started()) {
      EXPECT_GE(waited, absl::Seconds(2));
      EXPECT_LE(waited, absl::Seconds(3));
    }
    Run();
    ExpectRight(cold);
  }
}

TEST_F(ConcurrencyTest, AFloodOfOneTenantLeavesASeatForAnother) {
  SchedulerOptions options = setup().scheduler;
  options.max_running = 4;
  Open({.scheduler = options});
  std::vector<Asked> flood;
  for (uint64_t i = 0; i < 300; ++i) {
    GenerationRequest request = Request(Tokens(20, i), 10);
    request.scope = Scope::Tenant("flood");
    flood.push_back(Ask(request));
  }
  Step();
  GenerationRequest request = Request(Tokens(20, 1000), 10);
  request.scope = Scope::Tenant("other");
  const Asked other = Ask(request);
  const auto finished = [&] {
    return std::ranges::count_if(flood, [](const Asked& each) { return each->finished(); });
  };
  while (!other->started()) Step();
  EXPECT_LE(finished(), 4);
}

TEST_F(ConcurrencyTest, EveryDecodeAdvancesInEveryStep) {
  Open({.blocks = 2000, .max_positions = 30000});
  std::vector<Asked> decoding;
  for (uint64_t i = 0; i < 15; ++i) decoding.push_back(Ask(Tokens(1, i), 500));
  Step();
  Ask(Tokens(20000, 99), 1);
  for (size_t step = 1; step <= 100; ++step) {
    for (const Asked& each : decoding) ASSERT_EQ(each->tokens().size(), step);
    Step();
  }
}

TEST_F(ConcurrencyTest, StepsAreFullAndNeverOverTheirBudget) {
  int fullest = 0;
  runner().on_forward = [&](const RaggedBatch& batch) {
    fullest = std::max(fullest, batch.num_tokens());
    EXPECT_LE(batch.num_tokens(), setup().scheduler.step_tokens);
  };
  for (uint64_t i = 0; i < 100; ++i) Ask(Tokens(100, i), 10);
  Run();
  EXPECT_EQ(fullest, setup().scheduler.step_tokens);
}

TEST_F(ConcurrencyTest, AStepOfOneTokenStillServesEverybody) {
  Open({.scheduler = {.max_running = 64, .step_tokens = 1}});
  std::vector<Asked> asked;
  for (uint64_t i = 0; i < 5; ++i) asked.push_back(Ask(Tokens(20, i), 3));
  Run();
  for (const Asked& each : asked) ExpectRight(each);
}

}  // namespace
}  // namespace headstart::testing
