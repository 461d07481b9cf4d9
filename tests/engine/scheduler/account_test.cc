#include "engine/scheduler/account.h"

#include "gtest/gtest.h"

namespace headstart {
namespace {

const absl::Time kStart = absl::UnixEpoch();

TEST(AccountTest, SplitsAPromptIntoCachedAndComputed) {
  Account account(100, kStart);
  account.Acquired({.device = 48}, MissReason::kDiverged);
  EXPECT_EQ(account.Split().cached_tokens(), 48);
  EXPECT_EQ(account.Split().computed_prompt_tokens, 52);
  account.Computed(48, 52);
  EXPECT_EQ(account.Usage().computed_prompt_tokens, 52);
  EXPECT_EQ(account.Usage().prompt_tokens, 100);
  EXPECT_EQ(account.Usage().miss_reason, MissReason::kDiverged);
}

TEST(AccountTest, CountsOnlyWhatWasDoneWhenThePromptIsNotFinished) {
  Account account(100, kStart);
  account.Acquired({.device = 16}, MissReason::kNew);
  account.Computed(16, 20);
  EXPECT_EQ(account.Usage().prompt_tokens, 36);
  EXPECT_EQ(account.Usage().computed_prompt_tokens, 20);
}

TEST(AccountTest, RecomputedTokensAreNeitherHitsNorBilled) {
  Account account(40, kStart);
  account.Acquired({}, MissReason::kNew);
  account.Computed(0, 40);
  account.Computed(40, 1);
  account.Acquired({.device = 32}, MissReason::kNone);
  const ComputedTokens run = account.Computed(32, 10);
  EXPECT_EQ(run.again, 9);
  EXPECT_EQ(run.prompt, 0);
  EXPECT_EQ(run.answer, 1);
  EXPECT_EQ(account.Usage().cached_tokens(), 0);
  EXPECT_EQ(account.Usage().computed_prompt_tokens, 40);
  EXPECT_EQ(account.Usage().recomputed_tokens, 9);
}

TEST(AccountTest, HitsThatAreLostAndComputedAreRecomputed) {
  Account account(40, kStart);
  account.Acquired({.device = 32}, MissReason::kNone);
  account.Acquired({}, MissReason::kEvicted);
  account.Computed(0, 40);
  EXPECT_EQ(account.Usage().cached_tokens(), 32);
  EXPECT_EQ(account.Usage().recomputed_tokens, 32);
  EXPECT_EQ(account.Usage().computed_prompt_tokens, 8);
  EXPECT_EQ(account.Usage().miss_reason, MissReason::kNone);
}

TEST(AccountTest, WhatOthersCachedDuringAPreemptionIsAHit) {
  Account account(100, kStart);
  account.Acquired({}, MissReason::kNew);
  account.Computed(0, 30);
  account.Acquired({.device = 64}, MissReason::kNone);
  account.Computed(64, 36);
  EXPECT_EQ(account.Usage().cached_tokens(), 34);
  EXPECT_EQ(account.Usage().computed_prompt_tokens, 66);
  EXPECT_EQ(account.Usage().recomputed_tokens, 0);
  EXPECT_EQ(account.Usage().prompt_tokens, 100);
}

TEST(AccountTest, TimingsFollowTheLifeOfARequest) {
  Account account(10, kStart);
  account.Working(kStart + absl::Seconds(2));
  account.Working(kStart + absl::Seconds(3));
  account.Sampled(kStart + absl::Seconds(5));
  account.Sampled(kStart + absl::Seconds(9));
  const GenerationTimings timings = account.Timings(kStart + absl::Seconds(10));
  EXPECT_EQ(timings.queue, absl::Seconds(2));
  EXPECT_EQ(timings.prefill, absl::Seconds(3));
  EXPECT_EQ(timings.ttft, absl::Seconds(5));
  EXPECT_EQ(timings.decode, absl::Seconds(4));
  EXPECT_EQ(timings.total, absl::Seconds(10));
}

TEST(AccountTest, ARequestThatNeverRanOnlyQueued) {
  const GenerationTimings timings = Account(10, kStart).Timings(kStart + absl::Seconds(4));
  EXPECT_EQ(timings.queue, absl::Seconds(4));
  EXPECT_EQ(timings.prefill, absl::ZeroDuration());
  EXPECT_EQ(timings.total, absl::Seconds(4));
  EXPECT_EQ(Account(10, kStart).Usage().prompt_tokens, 0);
}

}  // namespace
}  // namespace headstart
