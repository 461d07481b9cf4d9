// When blocks run out: nobody's KV is lost to another, preempted sequences come back to the same answer, and what is
// computed twice is never called a hit.

#include <numeric>

#include "tests/engine/scheduler/scheduler_fixture.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class MemoryTest : public SchedulerTest {
 protected:
  // Positions that were computed for a request, each once, and those computed again.
  static int64_t Computed(const Asked& asked) {
    const GenerationUsage& usage = asked->usage();
    return usage.computed_prompt_tokens + usage.recomputed_tokens + usage.completion_tokens - 1;
  }

  void RunAllAndCheck(const std::vector<Asked>& asked) {
    Run();
    int64_t computed = 0;
    for (const Asked& each : asked) {
      ExpectRight(each);
      computed += Computed(each);
    }
    EXPECT_EQ(computed, runner().computed_tokens());
    EXPECT_EQ(scheduler().stats().recomputed_tokens,
              std::accumulate(asked.begin(), asked.end(), int64_t{0},
                              [](int64_t sum, const Asked& each) { return sum + each->usage().recomputed_tokens; }));
    ExpectSoundStore();
  }
};

TEST_F(MemoryTest, E1_AHitBlockIsNotTheVictimOfItsOwnRequest) {
  Open({.blocks = 4});
  const auto a = Tokens(32, 1);
  Complete(a, 1);
  Complete(Tokens(32, 2), 1);
  // Two blocks are missing, and of the four that could go two are those it hits, which are the older ones.
  EXPECT_EQ(Complete(Join(a, Tokens(32, 3)), 1)->usage().cached_tokens(), 32);
}

TEST_F(MemoryTest, E9_ARequestThatCannotFitIsRefusedWithTheNumbers) {
  Open({.blocks = 4});
  EXPECT_THAT(Refusal(Request(Tokens(60, 1), 6)),
              StatusIs(absl::StatusCode::kFailedPrecondition, AllOf(HasSubstr("5 blocks"), HasSubstr("has 4 blocks"))));
  Complete(Tokens(60, 1), 5);
}

TEST_F(MemoryTest, E9_WhatPinsLeaveNoRoomForIsRefusedWithTheNumbers) {
  Open({.blocks = 8});
  const auto pinned = Tokens(64, 1);
  Complete(pinned, 1);
  ASSERT_OK_AND_ASSIGN(PinnedPrefix pin, store().Pin(Scope::Public(), pinned));
  const Asked large = Ask(Tokens(80, 2), 1);
  const Asked small = Ask(Tokens(40, 3), 4);
  Run();
  ExpectRight(small);
  EXPECT_FALSE(large->started());
  EXPECT_FALSE(large->finished());
  EXPECT_THAT(large->refusal(),
              StatusIs(absl::StatusCode::kFailedPrecondition, AllOf(HasSubstr("80 tokens"), HasSubstr("5 blocks"),
                                                                    HasSubstr("has 8 blocks"), HasSubstr("hold 4"))));
  EXPECT_EQ(Complete(Join(pinned, Tokens(40, 4)), 1)->usage().cached_tokens(), 64) << "what is pinned is of use to it";
  pin = PinnedPrefix();
  Complete(Tokens(80, 2), 1);
  ExpectSoundStore();
}

TEST_F(MemoryTest, AnAnswerThatFillsWhatPinsLeaveEndsThereAsAtTheEndOfTheContext) {
  Open({.blocks = 8});
  const auto pinned = Tokens(64, 1);
  Complete(pinned, 1);
  ASSERT_OK_AND_ASSIGN(PinnedPrefix pin, store().Pin(Scope::Public(), pinned));
  const Asked asked = Ask(Tokens(40, 2), 60);
  Run();
  ASSERT_TRUE(asked->finished());
  EXPECT_EQ(asked->reason(), FinishReason::kLength);
  EXPECT_EQ(asked->tokens().size(), 25u) << "four blocks hold the prompt and all of the answer but its last token";
  EXPECT_OK(asked->refusal());
  pin = PinnedPrefix();
  ExpectSoundStore();
}

TEST_F(MemoryTest, E10_TwoThatDoNotFitTogetherBothFinishRight) {
  Open({.blocks = 8});
  const std::vector<Asked> asked = {Ask(Tokens(40, 1), 60), Ask(Tokens(40, 2), 60)};
  RunAllAndCheck(asked);
  EXPECT_GT(scheduler().stats().preemptions, 0);
  EXPECT_EQ(asked[0]->usage().recomputed_tokens, 0) << "the oldest is not the one to go";
  for (const Asked& each : asked) EXPECT_EQ(each->usage().cached_tokens(), 0) << "its own tokens are no hits";
}

TEST_F(MemoryTest, E10_WithoutCacheWritingTheTokensAreComputedAgain) {
  Open({.blocks = 8});
  std::vector<Asked> asked;
  for (uint64_t seed : {1, 2}) {
    GenerationRequest request = Request(Tokens(40, seed), 60);
    request.write_cache = false;
    asked.push_back(Ask(request));
  }
  RunAllAndCheck(asked);
  EXPECT_GT(asked[1]->usage().recomputed_tokens, 40);
  EXPECT_EQ(asked[1]->usage().computed_prompt_tokens, 40);
  EXPECT_EQ(store().stats().cached_tokens, 0);
}

TEST_F(MemoryTest, AResumedSequenceFindsMostOfWhatItHad) {
  Open({.blocks = 12});
  const std::vector<Asked> asked = {Ask(Tokens(40, 1), 80), Ask(Tokens(40, 2), 80)};
  RunAllAndCheck(asked);
  EXPECT_GT(scheduler().stats().preemptions, 0);
  // The older one may need all blocks but a few of the younger one's, which were published when it was preempted.
  EXPECT_LT(asked[1]->usage().recomputed_tokens, 120);
}

TEST_F(MemoryTest, ManyInAPoolForOneAllFinishOneAfterTheOther) {
  Open({.block_tokens = 8, .blocks = 8});
  std::vector<Asked> asked;
  for (uint64_t seed = 0; seed < 16; ++seed) asked.push_back(Ask(Tokens(20, seed), 44));
  RunAllAndCheck(asked);
  EXPECT_GT(scheduler().stats().preemptions, 0);
}

TEST_F(MemoryTest, APromptThatFillsThePoolIsFoundAgain) {
  Open({.blocks = 3});
  Complete(Tokens(48, 1), 1);
  // The last block would have to be copied, and there is no fourth: it is computed instead, or the hit is shorter.
  const Asked again = Complete(Tokens(48, 1), 1);
  EXPECT_LE(again->usage().cached_tokens(), 47);
  ExpectSoundStore();
}

TEST_F(MemoryTest, A5_UniquePromptsUnderPreemptionAreNoHits) {
  Open({.block_tokens = 8, .blocks = 12});
  std::vector<Asked> asked;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    // Distinct first tokens: nothing at all is shared.
    asked.push_back(Ask(Join({TokenId{static_cast<int32_t>(1 + seed)}}, Tokens(20, seed)), 40));
  }
  RunAllAndCheck(asked);
  EXPECT_GT(scheduler().stats().preemptions, 0);
  for (const Asked& each : asked) EXPECT_EQ(each->usage().cached_tokens(), 0);
  EXPECT_GT(scheduler().stats().store.hit_tokens, 0) << "preempted sequences find their own again";
  EXPECT_EQ(scheduler().stats().hit_tokens, 0);
  EXPECT_EQ(scheduler().stats().queried_tokens, 30 * 21);
}

TEST_F(MemoryTest, APreemptedSequenceGoesBeforeNewOnes) {
  Open({.blocks = 8});
  const Asked oldest = Ask(Tokens(40, 1), 60);
  const Asked preempted = Ask(Tokens(40, 2), 60);
  while (scheduler().stats().preemptions == 0) Step();
  const Asked newcomer = Ask(Tokens(10, 3), 1);
  while (!preempted->finished()) Step();
  EXPECT_TRUE(oldest->finished());
  Run();
  for (const Asked& each : {oldest, preempted, newcomer}) ExpectRight(each);
}

TEST_F(MemoryTest, APreemptedSequenceCanBeCancelled) {
  Open({.blocks = 8});
  const Asked oldest = Ask(Tokens(40, 1), 60);
  const Asked preempted = Ask(Tokens(40, 2), 60);
  while (scheduler().stats().preemptions == 0) Step();
  scheduler().Cancel(preempted.id);
  Step();
  ASSERT_TRUE(preempted->finished());
  EXPECT_EQ(preempted->reason(), FinishReason::kCancelled);
  Run();
  ExpectRight(oldest);
  ExpectSoundStore();
}

// E7: also in the middle of a prefill, of a wait for a prefix, and of an answer.
TEST_F(MemoryTest, E7_AThousandCancelsLeakNothing) {
  Open({.block_tokens = 8, .blocks = 64, .scheduler = {.max_running = 8, .step_tokens = 24}});
  std::mt19937_64 random(11);
  std::vector<Asked> asked;
  for (int i = 0; i < 1000; ++i) {
    asked.push_back(
        Ask(Join(Tokens(random() % 80, random() % 3), Tokens(1 + random() % 20, random())), 1 + random() % 30));
    const uint64_t steps = random() % 4;
    for (uint64_t step = 0; step < steps; ++step) Step();
    scheduler().Cancel(asked[random() % asked.size()].id);
    if (i % 50 == 0) ExpectSoundStore();
  }
  for (const Asked& each : asked) scheduler().Cancel(each.id);
  Step();
  for (const Asked& each : asked) ASSERT_TRUE(each->finished());
  EXPECT_TRUE(scheduler().idle());
  ExpectSoundStore();
}

}  // namespace
}  // namespace headstart::testing
