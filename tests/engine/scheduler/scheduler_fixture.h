// A scheduler over the toy model, driven by hand: a clock that stands still unless told otherwise, sinks that record,
// and verbs.

#ifndef HEADSTART_TESTS_ENGINE_SCHEDULER_SCHEDULER_FIXTURE_H_
#define HEADSTART_TESTS_ENGINE_SCHEDULER_SCHEDULER_FIXTURE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "engine/generation.h"
#include "engine/scheduler/scheduler.h"
#include "gtest/gtest.h"
#include "prefix_store/prefix_store.h"
#include "tests/engine/scheduler/toy_model.h"

namespace headstart::testing {

// Remembers what it hears and fails the test when the order of events is broken.
class RecordingSink : public GenerationSink {
 public:
  void OnStarted(const GenerationUsage& split) override;
  void OnDelta(GenerationDelta delta) override;
  void OnFinished(FinishReason reason, const GenerationUsage& usage, const GenerationTimings& timings) override;

  bool started() const { return started_; }
  void OnRefused(const absl::Status& why, const GenerationUsage& usage, const GenerationTimings& timings) override;

  bool finished() const { return reason_.has_value(); }
  // OK unless it was refused.
  const absl::Status& refusal() const { return refusal_; }
  FinishReason reason() const { return reason_.value(); }
  const GenerationUsage& split() const { return split_; }
  const GenerationUsage& usage() const { return usage_; }
  const GenerationTimings& timings() const { return timings_; }
  const std::vector<TokenId>& tokens() const { return tokens_; }
  const std::string& text() const { return text_; }

  std::function<void()> on_delta;  // called after each delta was recorded
  std::function<void()> on_finished;

 private:
  bool started_ = false;
  std::optional<FinishReason> reason_;
  absl::Status refusal_;
  GenerationUsage split_;
  GenerationUsage usage_;
  GenerationTimings timings_;
  std::vector<TokenId> tokens_;
  std::string text_;
};

struct ToySetup {
  int block_tokens = 16;
  int64_t blocks = 512;
  int vocab_size = 64;
  int max_positions = 4096;
  int hash_bits = 64;
  PrefixStoreTiers tiers = {};  // with them, Close before they go
  SchedulerOptions scheduler = {.max_running = 64, .end_tokens = {kToyEnd}, .step_tokens = 128};
};

// One submitted request with all that is known of it.
struct Asked {
  GenerationRequest request;
  GenerationId id{};
  std::shared_ptr<RecordingSink> sink;

  RecordingSink* operator->() const { return sink.get(); }
};

class SchedulerTest : public ::testing::Test {
 protected:
  SchedulerTest() { Open({}); }

  // Starts over with an empty cache.
  void Open(const ToySetup& setup);
  void Close();

  // `length` tokens that are a function of `seed`.
  static std::vector<TokenId> Tokens(int64_t length, uint64_t seed);
  static std::vector<TokenId> Join(std::vector<TokenId> first, const std::vector<TokenId>& second);

  // A request for `answer` tokens that no end token cuts short.
  static GenerationRequest Request(std::vector<TokenId> prompt, int64_t answer = 4);

  Asked Ask(GenerationRequest request);
  Asked Ask(std::vector<TokenId> prompt, int64_t answer = 4) { return Ask(Request(std::move(prompt), answer)); }
  absl::Status Refusal(GenerationRequest request);

  bool Step() { return scheduler_->RunStep(); }
  void Run();  // until nothing is left to do
  void RunUntilStarted(const Asked& asked);
  Asked Complete(GenerationRequest request);  // Ask, Run, ExpectRight
  Asked Complete(std::vector<TokenId> prompt, int64_t answer = 4) {
    return Complete(Request(std::move(prompt), answer));
  }

  void Advance(absl::Duration time) { now_ += time; }

  // The answer equals the one given alone, and the account adds up.
  void ExpectRight(const Asked& asked) const;
  void ExpectSoundStore() const;

  const ToySetup& setup() const { return setup_; }
  ToyRunner& runner() { return *runner_; }
  PrefixStore& store() { return *store_; }
  Scheduler& scheduler() { return *scheduler_; }
  RunnerLimits runner_limits() const { return runner_->limits(); }

 private:
  ToySetup setup_;
  absl::Time now_ = absl::UnixEpoch();
  std::unique_ptr<ToyTokenizer> tokenizer_;
  std::unique_ptr<ToyRunner> runner_;
  std::unique_ptr<PrefixStore> store_;
  std::unique_ptr<Scheduler> scheduler_;
};

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_ENGINE_SCHEDULER_SCHEDULER_FIXTURE_H_
