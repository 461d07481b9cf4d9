// CollectedAnswer: a sink that keeps what it hears, for whoever waits for the end.
//
//   auto answer = std::make_shared<CollectedAnswer>();
//   engine.Submit(request, answer);
//   answer->done.wait();

#ifndef HEADSTART_TESTS_TESTING_COLLECTED_ANSWER_H_
#define HEADSTART_TESTS_TESTING_COLLECTED_ANSWER_H_

#include <latch>
#include <string>
#include <vector>

#include "engine/generation.h"

namespace headstart::testing {

// Thread-safety: written by the scheduler's thread; to be read after `done`.
class CollectedAnswer : public GenerationSink {
 public:
  void OnStarted(const GenerationUsage&) override {}
  void OnDelta(GenerationDelta delta) override {
    text += delta.text;
    for (const SampledToken& token : delta.tokens) {
      ids.push_back(token.token);
      logprobs.push_back(token.logprob);
      for (const TokenLogprob& other : token.top) logprobs.push_back(other.logprob);
    }
  }
  void OnFinished(FinishReason why, const GenerationUsage& used, const GenerationTimings&) override {
    reason = why;
    usage = used;
    done.count_down();
  }

  std::string text;
  std::vector<TokenId> ids;
  std::vector<float> logprobs;  // of each token, and of the likeliest ones asked for: equal bits stand for equal logits
  FinishReason reason = FinishReason::kShutdown;
  GenerationUsage usage;
  std::latch done{1};
};

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_TESTING_COLLECTED_ANSWER_H_
