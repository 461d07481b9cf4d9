// A model made of arithmetic, whose answers show every fault of whoever drives it.
//
// The "KV" of a token is a hash of the token, its position and the KV of the token before it, read back from simulated
// pages; the logits are a hash of the KV of the whole context, read back as well. A wrong block table, a missing copy,
// a block overwritten, evicted or read too early: each gives another answer. What the batch contract forbids fails the
// test outright.

#ifndef HEADSTART_TESTS_ENGINE_SCHEDULER_TOY_MODEL_H_
#define HEADSTART_TESTS_ENGINE_SCHEDULER_TOY_MODEL_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/generation.h"
#include "engine/model_runner.h"
#include "engine/text/tokenizer.h"

namespace headstart::testing {

inline constexpr TokenId kToyEnd{0};

// Each token is two letters, so that stop strings can begin and end inside tokens.
class ToyTokenizer : public Tokenizer {
 public:
  explicit ToyTokenizer(int vocab_size);
  std::vector<TokenId> Encode(std::string_view text, const EncodeOptions& options) const override;
  std::string TokenBytes(TokenId token, bool with_special) const override;
  int vocab_size() const override { return vocab_size_; }
  bool IsSpecial(TokenId token) const override { return token == kToyEnd; }
  const TokenizerSpec& spec() const override { return spec_; }

 private:
  const int vocab_size_;
  TokenizerSpec spec_;
};

class ToyRunner : public ModelRunner {
 public:
  ToyRunner(const RunnerLimits& limits, int64_t slots);

  const RunnerLimits& limits() const override { return limits_; }
  void Forward(const RaggedBatch& batch) override;
  std::span<const float> Logits(int i) override;
  void CopyKv(SlotIndex from, SlotIndex to, int tokens) override;

  int64_t computed_tokens() const { return computed_tokens_; }
  int64_t copies() const { return copies_; }
  int64_t steps() const { return step_; }

  // Called before each step is computed.
  std::function<void(const RaggedBatch&)> on_forward;

 private:
  struct Entry {
    uint64_t kv = 0;
    int64_t written_in_step = -1;
    int written_by = -1;  // which sequence of that step's batch
  };

  void ComputeSequence(const RaggedBatch& batch, int sequence);
  Entry& At(std::span<const SlotIndex> table, int64_t position);
  uint64_t Read(std::span<const SlotIndex> table, int64_t position, int reader);
  std::vector<float> LogitsOf(std::span<const SlotIndex> table, int64_t context, int reader);

  const RunnerLimits limits_;
  std::vector<Entry> pages_;  // [slots][block_tokens]
  std::vector<std::vector<float>> logits_;
  int64_t computed_tokens_ = 0;
  int64_t copies_ = 0;
  int64_t step_ = 0;
};

// What the toy answers when nothing goes wrong, computed without pages, batches or a cache.
struct ToyAnswer {
  std::vector<TokenId> tokens;
  std::string text;
  FinishReason reason = FinishReason::kLength;
};
ToyAnswer AnswerAlone(const GenerationRequest& request, const RunnerLimits& limits);

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_ENGINE_SCHEDULER_TOY_MODEL_H_
