// Sequence: one request from submission to its end: its tokens, its hold on KV memory, its sampler, its text, its
// account, and the voice in which its sink hears of it.
//
// Thread-safety: none; the scheduler's thread owns it.
// Ownership: borrows the tokenizer, which outlives it. While it holds memory, the store outlives it.
//
//   state     | holds memory | how it leaves
//   ----------|--------------|-----------------------------------------------------------
//   waiting   | no           | Start: loading; End: ended
//   loading   | yes          | Load says kReady: running; End: ended; Preempt: waiting again
//   running   | yes          | Accept gives a reason, or End: ended; Preempt: waiting again
//   ended     | no           | (OnFinished was called, once)
//
// Invariant: computed() ≤ tokens().size(); the KV of the first computed() tokens is in slots(). Tokens that remain are
// the prompt's tail, or the answer's last token, or after a preemption what has to be computed again: all are the same
// work.

#ifndef HEADSTART_ENGINE_SCHEDULER_SEQUENCE_H_
#define HEADSTART_ENGINE_SCHEDULER_SEQUENCE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "engine/generation.h"
#include "engine/model_runner.h"
#include "engine/sampling/sampler.h"
#include "engine/scheduler/account.h"
#include "engine/scheduler/answer_text.h"
#include "engine/scheduler/prefix_wait.h"
#include "prefix_store/prefix_store.h"

namespace headstart {

// What the scheduler says of a request beside the request itself.
struct SequenceTerms {
  GenerationId id{};
  uint64_t age_rank = 0;       // lower was submitted earlier
  int64_t longest_length = 0;  // of prompt and answer
  absl::Time submitted;
};

class Sequence {
 public:
  // REQUIRES: CheckRequest passes. `end_tokens` are the model's own.
  Sequence(const SequenceTerms& terms, GenerationRequest request, std::shared_ptr<GenerationSink> sink,
           const Tokenizer& tokenizer, std::span<const TokenId> end_tokens);

  GenerationId id() const { return terms_.id; }
  uint64_t age_rank() const { return terms_.age_rank; }
  absl::Time submitted() const { return terms_.submitted; }
  const Scope& scope() const { return request_.scope; }
  bool reads_cache() const { return request_.read_cache; }
  absl::Time deadline() const { return request_.deadline; }
  std::span<const TokenId> tokens() const { return tokens_; }
  int64_t length() const { return static_cast<int64_t>(tokens_.size()); }
  int64_t computed() const { return computed_; }
  // To compute before the next token can be sampled.
  int64_t remaining() const { return length() - (loading_ ? blocks_.cached_tokens() : computed_); }
  bool prefill_only() const { return request_.prefill_only; }
  std::span<const SlotIndex> slots() const { return blocks_.slots(); }
  bool ended() const { return ended_; }

  // --- cancellation: noted now, acted on by the scheduler before its next step
  void Cancel() { cancelled_ = true; }
  bool cancelled() const { return cancelled_; }

  PrefixWait& prefix_wait() { return prefix_wait_; }
  const PrefixWait& prefix_wait() const { return prefix_wait_; }

  // --- memory
  // Acquires memory for all tokens and finds what of them is cached. When refused, with the store's status, nothing has
  // changed. `read_cache` may only narrow the request's own wish. It is loading from now on, until Load says otherwise.
  absl::Status Start(PrefixStore& store, bool read_cache, absl::Time now);

  // Looks whether what is cached has come up. When it has, copies what it shares of a block and tells the sink the
  // first time: it runs. When it failed to come, Preempt it, and it will find less. REQUIRES: loading().
  LoadState Load(ModelRunner& runner, absl::Time now);
  bool loading() const { return loading_; }

  // Whether it has run, and how many tokens of its prompt were found in the cache so far.
  bool acquired_before() const { return account_.acquired_before(); }
  int64_t cached_tokens() const { return account_.Usage().cached_tokens(); }

  // Makes sure of room for the KV of all tokens. RESOURCE_EXHAUSTED as the store says.
  absl::Status Reserve() { return blocks_.Reserve(length()); }

  // Takes slots for the KV of the next `count` tokens.
  void TakeSlots(int64_t count) { blocks_.Take(computed_ + count); }

  // Gives its memory up, what is complete of it to the cache.
  void Preempt();

  // --- a step
  void Working(absl::Time now) { account_.Working(now); }

  // The next `count` tokens have their KV, and others may now read it.
  ComputedTokens Computed(int64_t count, int block_tokens);

  // Chooses the next token and tells the sink. A reason when it was the last.
  // REQUIRES: remaining() is 0; `logits` are those of the last token.
  std::optional<FinishReason> Accept(std::span<const float> logits, absl::Time now);

  // Returns the memory, then tells the sink: what text was held back, and the end. REQUIRES: !ended().
  void End(FinishReason reason, absl::Time now);

  // Tells the sink why it cannot run. REQUIRES: it holds no memory, and nothing was sampled; !ended().
  void Refuse(const absl::Status& why, absl::Time now);

  // Whether a token of the answer was sampled.
  bool answering() const { return account_.Usage().completion_tokens > 0; }

 private:
  void Publish();
  bool IsEndToken(TokenId token) const;

  const SequenceTerms terms_;
  GenerationRequest request_;  // its prompt moved into tokens_
  std::shared_ptr<GenerationSink> sink_;
  std::span<const TokenId> end_tokens_;
  std::vector<TokenId> tokens_;
  int64_t computed_ = 0;
  SequenceBlocks blocks_;
  Sampler sampler_;
  AnswerText text_;
  Account account_;
  PrefixWait prefix_wait_;
  bool loading_ = false;
  absl::Time load_began_;
  bool cancelled_ = false;
  bool ended_ = false;
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_SCHEDULER_SEQUENCE_H_
