// How requests begin and end: refusal, cancellation, deadlines, shutdown, stop conditions, and what sinks hear.

#include "tests/engine/scheduler/scheduler_fixture.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

using ::testing::HasSubstr;

class LifecycleTest : public SchedulerTest {
 protected:
  void ExpectEnded(const Asked& asked, FinishReason reason) {
    ASSERT_TRUE(asked->finished());
    EXPECT_EQ(asked->reason(), reason);
  }
};

TEST_F(LifecycleTest, RefusesBeforeAnyWork) {
  EXPECT_THAT(Refusal(Request({})), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("empty")));
  EXPECT_THAT(Refusal(Request({TokenId{64}})), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("prompt[0]")));
  EXPECT_THAT(Refusal(Request(Tokens(4096, 1))), StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("4096")));
  EXPECT_TRUE(scheduler().idle());
  EXPECT_EQ(store().stats().acquisitions, 0);
}

TEST_F(LifecycleTest, AFullQueueIsUnavailable) {
  Open({.scheduler = {.max_queue = 3, .max_running = 1}});
  for (uint64_t i = 0; i < 3; ++i) Ask(Tokens(10, i));
  EXPECT_THAT(Refusal(Request(Tokens(10, 9))), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("queue is full")));
  Step();
  Complete(Tokens(10, 9));
}

TEST_F(LifecycleTest, CancelsAWaitingRequestWithinAStep) {
  Open({.scheduler = {.max_running = 1}});
  Ask(Tokens(10, 1), 50);
  const Asked waiting = Ask(Tokens(10, 2));
  Step();
  scheduler().Cancel(waiting.id);
  Step();
  ExpectEnded(waiting, FinishReason::kCancelled);
  EXPECT_FALSE(waiting->started());
  EXPECT_EQ(waiting->usage().prompt_tokens, 0);
}

TEST_F(LifecycleTest, CancelsAPrefillWithinAStepAndKeepsWhatItComputed) {
  const Asked asked = Ask(Tokens(1000, 1));
  Step();
  scheduler().Cancel(asked.id);
  Step();
  ExpectEnded(asked, FinishReason::kCancelled);
  EXPECT_EQ(asked->usage().computed_prompt_tokens, 128);
  EXPECT_EQ(asked->usage().prompt_tokens, 128);
  EXPECT_EQ(runner().computed_tokens(), 128);
  EXPECT_EQ(Complete(Tokens(1000, 1))->usage().cached_tokens(), 128);
}

TEST_F(LifecycleTest, CancelsAnAnswerFromItsOwnSink) {
  const Asked asked = Ask(Tokens(10, 1), 100);
  asked->on_delta = [&] {
    if (asked->tokens().size() == 5) scheduler().Cancel(asked.id);
  };
  Run();
  ExpectEnded(asked, FinishReason::kCancelled);
  EXPECT_EQ(asked->tokens().size(), 5u);
  EXPECT_EQ(asked->usage().completion_tokens, 5);
  ExpectSoundStore();
}

TEST_F(LifecycleTest, CancellingTwiceOrTooLateDoesNothing) {
  const Asked asked = Complete(Tokens(10, 1));
  scheduler().Cancel(asked.id);
  scheduler().Cancel(GenerationId{12345});
  Complete(Tokens(10, 2));
}

TEST_F(LifecycleTest, DeadlinesEndWaitingAndRunningRequests) {
  Open({.scheduler = {.max_running = 1}});
  GenerationRequest request = Request(Tokens(10, 1), 100);
  request.deadline = absl::UnixEpoch() + absl::Seconds(5);
  const Asked running = Ask(request);
  const Asked waiting = Ask(request);
  Step();
  Advance(absl::Seconds(4));
  Step();
  EXPECT_FALSE(running->finished());
  Advance(absl::Seconds(1));
  Step();
  ExpectEnded(running, FinishReason::kDeadline);
  ExpectEnded(waiting, FinishReason::kDeadline);
  EXPECT_EQ(running->tokens().size(), 2u);
  EXPECT_TRUE(scheduler().idle());
}

TEST_F(LifecycleTest, ADeadlineInThePastEndsTheRequestBeforeItStarts) {
  GenerationRequest request = Request(Tokens(10, 1));
  request.deadline = absl::InfinitePast();
  const Asked asked = Ask(request);
  Run();
  ExpectEnded(asked, FinishReason::kDeadline);
  EXPECT_EQ(runner().computed_tokens(), 0);
}

TEST_F(LifecycleTest, ShutdownEndsEverythingOnce) {
  Open({.scheduler = {.max_running = 1}});
  const Asked running = Ask(Tokens(10, 1), 100);
  const Asked waiting = Ask(Tokens(10, 2));
  Step();
  scheduler().EndAll();
  ExpectEnded(running, FinishReason::kShutdown);
  ExpectEnded(waiting, FinishReason::kShutdown);
  EXPECT_TRUE(scheduler().idle());
  ExpectSoundStore();
}

TEST_F(LifecycleTest, DestructionEndsWhatRuns) {
  const Asked asked = Ask(Tokens(10, 1), 100);
  Step();
  Open({});
  ExpectEnded(asked, FinishReason::kShutdown);
}

TEST_F(LifecycleTest, MemoryIsBackBeforeTheEndIsHeard) {
  const Asked asked = Ask(Tokens(10, 1), 3);
  int64_t leased = -1;
  asked->on_finished = [&] { leased = store().stats().leased_blocks; };
  Run();
  EXPECT_EQ(leased, 0);
}

TEST_F(LifecycleTest, AnswersEndAtTheEndOfTheContext) {
  Open({.max_positions = 50});
  for (const int64_t answer : {0, 1000}) {
    const Asked asked = Complete(Tokens(30, 1), answer);
    EXPECT_EQ(asked->reason(), FinishReason::kLength);
    EXPECT_EQ(asked->tokens().size(), 20u);
  }
  EXPECT_EQ(Complete(Tokens(49, 2), 7)->tokens().size(), 1u);
}

TEST_F(LifecycleTest, AnswersEndAtTheModelsEndTokenUnlessToldNotTo) {
  int ended = 0;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    GenerationRequest request = Request(Tokens(10, seed), 200);
    request.ignore_eos = false;
    const Asked asked = Complete(request);
    if (asked->reason() != FinishReason::kStop) continue;
    ++ended;
    EXPECT_EQ(asked->tokens().back(), kToyEnd);
    EXPECT_EQ(asked->usage().completion_tokens, static_cast<int64_t>(asked->tokens().size()));
    EXPECT_GT(Complete(Tokens(10, seed), 200)->tokens().size(), asked->tokens().size());
  }
  EXPECT_GT(ended, 0);
}

TEST_F(LifecycleTest, AnswersEndAtAStopToken) {
  const auto whole = Complete(Tokens(10, 1), 50)->tokens();
  GenerationRequest request = Request(Tokens(10, 1), 50);
  request.stop_tokens = {whole[20]};
  const Asked asked = Complete(request);
  EXPECT_EQ(asked->reason(), FinishReason::kStop);
  EXPECT_LE(asked->tokens().size(), 21u);
}

// Stop strings of every kind of place: inside a token, across two or three, at the very end.
TEST_F(LifecycleTest, AnswersEndBeforeAStopString) {
  const std::string whole = Complete(Tokens(10, 1), 50)->text();
  for (size_t at = 30; at < 40; ++at) {
    for (size_t size = 5; size < 9; ++size) {
      GenerationRequest request = Request(Tokens(10, 1), 50);
      request.stop = {whole.substr(at, size), "never in it"};
      const Asked asked = Complete(request);
      EXPECT_EQ(asked->reason(), FinishReason::kStop);
      EXPECT_LE(asked->text().size(), at);
    }
  }
}

TEST_F(LifecycleTest, TextThatMightHaveBeenAStopIsGivenAtTheEnd) {
  const std::string whole = Complete(Tokens(10, 1), 20)->text();
  GenerationRequest request = Request(Tokens(10, 1), 20);
  request.stop = {whole.substr(whole.size() - 6) + "?"};
  EXPECT_EQ(Complete(request)->text(), whole);

  const Asked cancelled = Ask(request);
  cancelled->on_delta = [&] {
    if (cancelled->tokens().size() == 18) scheduler().Cancel(cancelled.id);
  };
  Run();
  EXPECT_EQ(cancelled->text(), Complete(Tokens(10, 1), 18)->text());
}

TEST_F(LifecycleTest, TimingsSayWhatEachPartTook) {
  runner().on_forward = [&](const RaggedBatch&) { Advance(absl::Seconds(1)); };
  const Asked asked = Ask(Tokens(200, 1), 5);
  Advance(absl::Seconds(3));
  Run();
  // Two steps for the prompt, of which the second gives the first token; four for the rest.
  EXPECT_EQ(asked->timings().queue, absl::Seconds(3));
  EXPECT_EQ(asked->timings().prefill, absl::Seconds(2));
  EXPECT_EQ(asked->timings().ttft, absl::Seconds(5));
  EXPECT_EQ(asked->timings().decode, absl::Seconds(4));
  EXPECT_EQ(asked->timings().total, absl::Seconds(9));
}

TEST_F(LifecycleTest, WaitingForAPrefixIsQueueTime) {
  runner().on_forward = [&](const RaggedBatch&) { Advance(absl::Seconds(1)); };
  Ask(Tokens(512, 1), 1);
  const Asked waiter = Ask(Tokens(512, 1), 1);
  Run();
  EXPECT_EQ(waiter->timings().queue, absl::Seconds(4));
  EXPECT_EQ(waiter->timings().prefill, absl::Seconds(1));
}

TEST_F(LifecycleTest, StatsCountWhatWasDone) {
  Complete(Tokens(100, 1), 5);
  Complete(Tokens(100, 1), 5);
  const EngineStats stats = scheduler().stats();
  EXPECT_EQ(stats.finished, 2);
  EXPECT_EQ(stats.prompt_tokens_computed, 101);
  EXPECT_EQ(stats.completion_tokens, 10);
  EXPECT_EQ(stats.running + stats.waiting + stats.preemptions + stats.recomputed_tokens, 0);
  EXPECT_EQ(stats.steps, runner().steps());
}

TEST_F(LifecycleTest, TheClockMaySetBack) {
  const Asked asked = Ask(Tokens(300, 1), 10);
  Step();
  Advance(-absl::Hours(1));
  Run();
  ExpectEnded(asked, FinishReason::kLength);
}

}  // namespace
}  // namespace headstart::testing
