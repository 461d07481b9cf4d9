#include "engine/scheduler/scheduler_thread.h"

#include <atomic>
#include <latch>
#include <memory>
#include <thread>

#include "tests/engine/scheduler/scheduler_fixture.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

using ::testing::HasSubstr;

// A sink that others can wait for.
struct Awaited {
  GenerationRequest request;
  GenerationId id{};
  std::shared_ptr<RecordingSink> sink = std::make_shared<RecordingSink>();
  std::shared_ptr<std::latch> done = std::make_shared<std::latch>(1);
};

class SchedulerThreadTest : public ::testing::Test {
 protected:
  SchedulerThreadTest() { Open({.max_running = 16, .end_tokens = {kToyEnd}, .step_tokens = 64}); }

  void Open(const SchedulerOptions& options, SchedulerClocks clocks = {}) {
    thread_.reset();
    const RunnerLimits limits{
        .vocab_size = 64, .max_positions = 4096, .max_step_tokens = 64, .max_logit_rows = 16, .block_tokens = 16};
    runner_ = std::make_unique<ToyRunner>(limits, kBlocks);
    runner_->on_forward = [this](const RaggedBatch&) {
      if (hold_) hold_->wait();
    };
    const PrefixStoreOptions store{.block_tokens = 16, .device_blocks = kBlocks};
    thread_ = std::make_unique<SchedulerThread>(*runner_, tokenizer_, store, options, std::move(clocks));
  }

  static GenerationRequest Request(uint64_t seed, int64_t answer = 8) {
    std::mt19937_64 random(seed);
    GenerationRequest request;
    for (int i = 0; i < 40; ++i) request.prompt.push_back(TokenId{static_cast<int32_t>(1 + random() % 63)});
    request.sampling.temperature = 0;
    request.max_tokens = answer;
    request.ignore_eos = true;
    return request;
  }

  Awaited Ask(GenerationRequest request) {
    Awaited asked{.request = request};
    asked.sink->on_finished = [done = asked.done] { done->count_down(); };
    const auto id = thread_->Submit(std::move(request), asked.sink);
    EXPECT_OK(id);
    if (id.ok()) asked.id = *id;
    return asked;
  }

  void ExpectRight(const Awaited& asked) {
    asked.done->wait();
    EXPECT_EQ(asked.sink->tokens(), AnswerAlone(asked.request, runner_->limits()).tokens);
  }

  // The next step stops where it would compute, until released.
  void HoldSteps() { hold_ = std::make_unique<std::latch>(1); }
  void Release() { hold_->count_down(); }

  static constexpr int64_t kBlocks = 256;
  ToyTokenizer tokenizer_{64};
  std::unique_ptr<std::latch> hold_;
  std::unique_ptr<ToyRunner> runner_;
  std::unique_ptr<SchedulerThread> thread_;
};

TEST_F(SchedulerThreadTest, AnswersAndSleepsAndAnswersAgain) {
  ExpectRight(Ask(Request(1)));
  ExpectRight(Ask(Request(2)));
  ExpectRight(Ask(Request(1)));
}

TEST_F(SchedulerThreadTest, ManyThreadsAskAndCancel) {
  constexpr int kThreads = 4;
  constexpr uint64_t kEach = 40;
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < kEach; ++i) {
        const Awaited asked = Ask(Request(i % 7, 1 + static_cast<int64_t>(i % 20)));
        if (i % 3 == static_cast<uint64_t>(t % 3)) thread_->Cancel(asked.id);
        thread_->stats();
        asked.done->wait();
        if (asked.sink->reason() == FinishReason::kCancelled) continue;
        ExpectRight(asked);
        ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(right, kThreads * static_cast<int>(kEach) / 2);
}

TEST_F(SchedulerThreadTest, RefusesOnTheCallersThread) {
  EXPECT_THAT(thread_->Submit({}, std::make_shared<RecordingSink>()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("empty")));
}

TEST_F(SchedulerThreadTest, TheQueueIsBoundedExactly) {
  HoldSteps();
  Open({.max_queue = 3, .max_running = 1, .step_tokens = 64});
  std::latch computing{1};
  runner_->on_forward = [&](const RaggedBatch&) {
    if (!computing.try_wait()) computing.count_down();
    hold_->wait();
  };
  std::vector<Awaited> asked = {Ask(Request(0))};
  computing.wait();
  // The first runs, though its step is not done: the queue may still count it.
  while (true) {
    Awaited next{.request = Request(asked.size())};
    next.sink->on_finished = [done = next.done] { done->count_down(); };
    const auto id = thread_->Submit(next.request, next.sink);
    if (!id.ok()) {
      EXPECT_THAT(id, StatusIs(absl::StatusCode::kUnavailable, HasSubstr("queue is full")));
      break;
    }
    asked.push_back(next);
  }
  EXPECT_EQ(asked.size(), 3u);
  Release();
  for (const Awaited& each : asked) ExpectRight(each);
}

TEST_F(SchedulerThreadTest, CancelStopsWhatRuns) {
  HoldSteps();
  const Awaited asked = Ask(Request(1, 1000));
  thread_->Cancel(asked.id);
  Release();
  asked.done->wait();
  EXPECT_EQ(asked.sink->reason(), FinishReason::kCancelled);
  EXPECT_LE(asked.sink->tokens().size(), 1u);
}

TEST_F(SchedulerThreadTest, DestructionEndsWhatRunsAndWaits) {
  HoldSteps();
  std::vector<Awaited> asked;
  for (uint64_t i = 0; i < 40; ++i) asked.push_back(Ask(Request(i, 1000)));
  Release();
  thread_.reset();
  for (const Awaited& each : asked) {
    ASSERT_TRUE(each.done->try_wait());
    EXPECT_EQ(each.sink->reason(), FinishReason::kShutdown);
  }
}

TEST_F(SchedulerThreadTest, DrainFinishesWhatWasTakenAndRefusesMore) {
  HoldSteps();
  std::vector<Awaited> asked;
  for (uint64_t i = 0; i < 30; ++i) asked.push_back(Ask(Request(i)));
  std::latch drained{1};
  thread_->Drain([&] {
    for (const Awaited& each : asked) EXPECT_TRUE(each.done->try_wait());
    drained.count_down();
  });
  EXPECT_THAT(thread_->Submit(Request(99), std::make_shared<RecordingSink>()),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("shutting down")));
  EXPECT_FALSE(drained.try_wait());
  Release();
  drained.wait();
  for (const Awaited& each : asked) ExpectRight(each);
}

TEST_F(SchedulerThreadTest, EndAllEndsADrainThatTakesTooLong) {
  HoldSteps();
  std::vector<Awaited> asked;
  for (uint64_t i = 0; i < 40; ++i) asked.push_back(Ask(Request(i, 1000)));
  std::latch drained{1};
  thread_->Drain([&] { drained.count_down(); });
  thread_->EndAll();
  Release();
  drained.wait();
  for (const Awaited& each : asked) {
    ASSERT_TRUE(each.done->try_wait());
    EXPECT_EQ(each.sink->reason(), FinishReason::kShutdown);
  }
  EXPECT_EQ(thread_->stats().store.leased_blocks, 0);
}

TEST_F(SchedulerThreadTest, DrainOfAnIdleThreadIsHeardAtOnce) {
  std::latch drained{1};
  thread_->Drain([&] { drained.count_down(); });
  drained.wait();
}

// Nobody asks for anything while it expires.
TEST_F(SchedulerThreadTest, AnIdleThreadLetsGoOfPinsThatExpire) {
  std::atomic<int64_t> seconds = 1000;
  Open({.end_tokens = {kToyEnd}, .step_tokens = 64}, {.wall = [&seconds] { return absl::FromUnixSeconds(seconds); }});
  const GenerationRequest request = Request(1);
  ExpectRight(Ask(request));
  std::latch added{1};
  thread_->Call([&](PrefixStore&, PrefixRegistry& registry) {
    const absl::Time now = absl::FromUnixSeconds(seconds);
    EXPECT_OK(registry.Add({.id = "system", .tokens = request.prompt, .expires = now + absl::Minutes(1)}, now));
    added.count_down();
  });
  added.wait();
  while (thread_->stats().store.pinned_blocks == 0) std::this_thread::yield();
  seconds += 60;
  while (thread_->stats().store.pinned_blocks > 0) std::this_thread::yield();
}

TEST_F(SchedulerThreadTest, PredictSaysWhatARequestWouldFind) {
  const GenerationRequest request = Request(1);
  ExpectRight(Ask(request));
  std::latch told{1};
  Match match;
  thread_->Predict(request.scope, request.prompt, [&](const Match& found) {
    match = found;
    told.count_down();
  });
  told.wait();
  EXPECT_EQ(match.matched_tokens, 39);
  std::latch told_of_nothing{1};
  thread_->Predict(request.scope, {}, [&](const Match& found) {
    EXPECT_EQ(found.matched_tokens, 0);
    told_of_nothing.count_down();
  });
  told_of_nothing.wait();
}

TEST_F(SchedulerThreadTest, StatsAreThereWhenDrained) {
  for (uint64_t i = 0; i < 5; ++i) Ask(Request(i));
  std::latch drained{1};
  thread_->Drain([&] { drained.count_down(); });
  drained.wait();
  const EngineStats stats = thread_->stats();
  EXPECT_EQ(stats.finished, 5);
  EXPECT_EQ(stats.prompt_tokens_computed, 200);
  EXPECT_EQ(stats.store.leased_blocks, 0);
  EXPECT_EQ(stats.store.pool_blocks, kBlocks);
}

// Deadlines come on the wall clock; setting it back or forth after they arrived changes nothing.
TEST_F(SchedulerThreadTest, ADeadlineIsTimeLeftWhateverTheWallClockSays) {
  const absl::Time wall = absl::UnixEpoch() + absl::Hours(1000);
  Open({.max_running = 16, .step_tokens = 64},
       {.steady = [] { return absl::UnixEpoch(); }, .wall = [=] { return wall; }});
  GenerationRequest request = Request(1);
  request.deadline = wall + absl::Seconds(1);
  ExpectRight(Ask(request));
  request.deadline = wall - absl::Seconds(1);
  const Awaited late = Ask(request);
  late.done->wait();
  EXPECT_EQ(late.sink->reason(), FinishReason::kDeadline);
}

// Nothing wakes an idle thread when a prefix expires: the first who asks is told so nevertheless.
TEST_F(SchedulerThreadTest, WhatExpiredWhileItSleptIsGoneForTheFirstWhoAsks) {
  const absl::Time begin = absl::UnixEpoch() + absl::Hours(1000);
  std::atomic<int> seconds = 0;
  Open({.max_running = 16, .step_tokens = 64},
       {.steady = [] { return absl::UnixEpoch(); }, .wall = [&] { return begin + absl::Seconds(seconds.load()); }});
  ExpectRight(Ask(Request(1)));
  const auto found = [&] {
    std::latch asked{1};
    bool there = false;
    thread_->Call([&](PrefixStore&, PrefixRegistry& registry) {
      there = registry.Find(Scope::Public(), "short") != nullptr;
      asked.count_down();
    });
    asked.wait();
    return there;
  };
  thread_->Call([&](PrefixStore&, PrefixRegistry& registry) {
    const std::vector<TokenId> tokens = Request(1).prompt;
    EXPECT_OK(registry.Add({.id = "short", .tokens = tokens, .expires = begin + absl::Seconds(5)}, begin));
  });
  EXPECT_TRUE(found());
  seconds = 10;
  EXPECT_FALSE(found());
  thread_.reset();
}

TEST_F(SchedulerThreadTest, TheSteadyClockNeverGoesBack) {
  const Clock clock = SteadyClock();
  const absl::Time first = clock();
  EXPECT_LE(absl::AbsDuration(first - absl::Now()), absl::Minutes(1));
  EXPECT_LE(first, clock());
}

}  // namespace
}  // namespace headstart::testing
