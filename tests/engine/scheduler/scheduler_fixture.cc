#include "tests/engine/scheduler/scheduler_fixture.h"

#include <utility>

#include "tests/testing/status.h"

namespace headstart::testing {

void RecordingSink::OnStarted(const GenerationUsage& split) {
  EXPECT_FALSE(started_) << "started twice";
  EXPECT_FALSE(finished()) << "started after the end";
  EXPECT_EQ(split.prompt_tokens, split.cached_tokens() + split.computed_prompt_tokens);
  EXPECT_EQ(split.completion_tokens, 0);
  started_ = true;
  split_ = split;
}

void RecordingSink::OnDelta(GenerationDelta delta) {
  EXPECT_TRUE(started_) << "a delta before the start";
  EXPECT_FALSE(finished()) << "a delta after the end";
  for (const SampledToken& token : delta.tokens) tokens_.push_back(token.token);
  text_ += delta.text;
  if (on_delta) on_delta();
}

void RecordingSink::OnFinished(FinishReason reason, const GenerationUsage& usage, const GenerationTimings& timings) {
  EXPECT_FALSE(finished()) << "finished twice";
  EXPECT_EQ(usage.prompt_tokens, usage.cached_tokens() + usage.computed_prompt_tokens);
  EXPECT_EQ(usage.completion_tokens, static_cast<int64_t>(tokens_.size()));
  EXPECT_EQ(timings.ttft, timings.queue + timings.prefill);
  EXPECT_LE(timings.ttft + timings.decode, timings.total);
  reason_ = reason;
  usage_ = usage;
  timings_ = timings;
  if (on_finished) on_finished();
}

void RecordingSink::OnRefused(const absl::Status& why, const GenerationUsage& usage, const GenerationTimings&) {
  EXPECT_FALSE(finished()) << "refused after the end";
  EXPECT_EQ(usage.completion_tokens, 0);
  EXPECT_OK(refusal_) << "refused twice";
  refusal_ = why;
}

void SchedulerTest::Close() {
  scheduler_.reset();
  store_.reset();
}

void SchedulerTest::Open(const ToySetup& setup) {
  scheduler_.reset();
  setup_ = setup;
  const RunnerLimits limits{.vocab_size = setup.vocab_size,
                            .max_positions = setup.max_positions,
                            .max_step_tokens = setup.scheduler.step_tokens,
                            .max_logit_rows = setup.scheduler.max_running,
                            .block_tokens = setup.block_tokens};
  tokenizer_ = std::make_unique<ToyTokenizer>(setup.vocab_size);
  runner_ = std::make_unique<ToyRunner>(limits, setup.blocks);
  store_ = std::make_unique<PrefixStore>(
      PrefixStoreOptions{
          .block_tokens = setup.block_tokens, .device_blocks = setup.blocks, .hash_bits = setup.hash_bits},
      setup.tiers);
  scheduler_ = std::make_unique<Scheduler>(*runner_, *store_, *tokenizer_, setup.scheduler, [this] { return now_; });
}

std::vector<TokenId> SchedulerTest::Tokens(int64_t length, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<TokenId> tokens;
  for (int64_t i = 0; i < length; ++i) tokens.push_back(TokenId{static_cast<int32_t>(1 + random() % 63)});
  return tokens;
}

std::vector<TokenId> SchedulerTest::Join(std::vector<TokenId> first, const std::vector<TokenId>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

GenerationRequest SchedulerTest::Request(std::vector<TokenId> prompt, int64_t answer) {
  GenerationRequest request;
  request.prompt = std::move(prompt);
  request.sampling.temperature = 0;
  request.max_tokens = answer;
  request.ignore_eos = true;
  return request;
}

Asked SchedulerTest::Ask(GenerationRequest request) {
  Asked asked{.request = request, .sink = std::make_shared<RecordingSink>()};
  const auto id = scheduler_->Submit(std::move(request), asked.sink);
  EXPECT_OK(id);
  if (id.ok()) asked.id = *id;
  return asked;
}

absl::Status SchedulerTest::Refusal(GenerationRequest request) {
  return scheduler_->Submit(std::move(request), std::make_shared<RecordingSink>()).status();
}

void SchedulerTest::Run() {
  constexpr int kMoreThanAnyTestNeeds = 200'000;
  for (int i = 0; i < kMoreThanAnyTestNeeds; ++i) {
    if (!Step()) return;
  }
  FAIL() << "still not done: nothing advances";
}

void SchedulerTest::RunUntilStarted(const Asked& asked) {
  while (!asked->started() && !asked->finished()) Step();
}

Asked SchedulerTest::Complete(GenerationRequest request) {
  Asked asked = Ask(std::move(request));
  Run();
  ExpectRight(asked);
  return asked;
}

void SchedulerTest::ExpectRight(const Asked& asked) const {
  ASSERT_TRUE(asked->finished());
  const ToyAnswer alone = AnswerAlone(asked.request, runner_->limits());
  EXPECT_EQ(asked->tokens(), alone.tokens);
  EXPECT_EQ(asked->text(), alone.text);
  EXPECT_EQ(asked->reason(), alone.reason);
  const auto prompt = static_cast<int64_t>(asked.request.prompt.size());
  EXPECT_EQ(asked->usage().prompt_tokens, prompt);
  EXPECT_LE(asked->usage().cached_tokens(), prompt - 1);
}

void SchedulerTest::ExpectSoundStore() const {
  EXPECT_OK(store_->Check());
  const PrefixStoreStats stats = store_->stats();
  EXPECT_EQ(stats.free_blocks + stats.evictable_blocks + stats.leased_blocks, stats.pool_blocks);
  if (scheduler_->idle()) {
    EXPECT_EQ(stats.leased_blocks, 0);
  }
}

}  // namespace headstart::testing
