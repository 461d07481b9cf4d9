// Random load on small pools: requests of several tenants on common beginnings, cancelled at random, in steps of random
// size. Every answer must equal the one given alone, and every computed token must be in exactly one account.

#include <algorithm>

#include "tests/engine/scheduler/scheduler_fixture.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

class SoakTest : public SchedulerTest {
 protected:
  uint64_t Below(uint64_t limit) { return random_() % limit; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }

  ToySetup RandomSetup() {
    ToySetup setup;
    setup.block_tokens = 8 << Below(3);
    setup.blocks = static_cast<int64_t>(160 / setup.block_tokens + 2 + Below(20));
    setup.max_positions = 150;
    setup.hash_bits = OneIn(3) ? 8 : 64;
    setup.scheduler.step_tokens = static_cast<int>(1 + Below(60));
    setup.scheduler.max_running = static_cast<int>(1 + Below(12));
    setup.scheduler.max_long_prefills = static_cast<int>(1 + Below(4));
    return setup;
  }

  GenerationRequest RandomRequest() {
    GenerationRequest request =
        Request(Join(Tokens(Below(90), Below(3)), Tokens(1 + Below(20), random_())), 1 + Below(40));
    if (OneIn(2)) request.scope = Scope::Tenant(OneIn(2) ? "a" : "b");
    if (OneIn(3)) request.sampling = {.temperature = 0.8f, .frequency_penalty = 0.5f, .seed = random_()};
    if (OneIn(3)) request.ignore_eos = false;
    if (OneIn(4)) request.stop = {"aab", "cdcd"};
    if (OneIn(8)) request.read_cache = false;
    if (OneIn(8)) request.write_cache = false;
    if (OneIn(10)) request.deadline = absl::UnixEpoch() + absl::Milliseconds(Below(3000));
    return request;
  }

  // Ended early, its answer is the beginning of the whole one.
  void ExpectRightSoFar(const Asked& asked) {
    const ToyAnswer alone = AnswerAlone(asked.request, runner_limits());
    ASSERT_LE(asked->tokens().size(), alone.tokens.size());
    EXPECT_TRUE(std::ranges::equal(asked->tokens(), std::span(alone.tokens).first(asked->tokens().size())));
  }

  void Check(const Asked& asked) {
    ASSERT_TRUE(asked->finished());
    if (asked->reason() == FinishReason::kCancelled || asked->reason() == FinishReason::kDeadline) {
      ExpectRightSoFar(asked);
    } else {
      ExpectRight(asked);
    }
  }

  static int64_t Computed(const GenerationUsage& usage) {
    return usage.computed_prompt_tokens + usage.recomputed_tokens + std::max<int64_t>(0, usage.completion_tokens - 1);
  }

  void Round(uint64_t seed) {
    random_.seed(seed);
    Open(RandomSetup());
    std::vector<Asked> asked;
    for (int i = 0; i < 60; ++i) {
      asked.push_back(Ask(RandomRequest()));
      for (uint64_t step = Below(6); step > 0; --step) Step();
      Advance(absl::Milliseconds(Below(100)));
      if (OneIn(6)) scheduler().Cancel(asked[Below(asked.size())].id);
      if (OneIn(30)) store().Flush();
      if (OneIn(10)) ExpectSoundStore();
    }
    Run();
    int64_t computed = 0;
    for (const Asked& each : asked) {
      Check(each);
      computed += Computed(each->usage());
    }
    EXPECT_EQ(computed, runner().computed_tokens());
    ExpectSoundStore();
    preemptions_ += scheduler().stats().preemptions;
  }

  std::mt19937_64 random_;
  int64_t preemptions_ = 0;
};

TEST_F(SoakTest, EveryAnswerEqualsTheOneGivenAlone) {
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    Round(seed);
    if (HasFailure()) return;
  }
  EXPECT_GT(preemptions_, 100) << "the pools were too large to test anything";
}

}  // namespace
}  // namespace headstart::testing
