#include "engine/scheduler/sequence.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace headstart {

Sequence::Sequence(const SequenceTerms& terms, GenerationRequest request, std::shared_ptr<GenerationSink> sink,
                   const Tokenizer& tokenizer, std::span<const TokenId> end_tokens)
    : terms_(terms),
      request_(std::move(request)),
      sink_(std::move(sink)),
      end_tokens_(end_tokens),
      tokens_(std::move(request_.prompt)),
      sampler_(request_.sampling, tokens_),
      text_(tokenizer, request_.stop),
      account_(static_cast<int64_t>(tokens_.size()), terms.submitted) {}

absl::Status Sequence::Start(PrefixStore& store, bool read_cache, absl::Time now) {
  absl::StatusOr<SequenceBlocks> blocks = store.Acquire({.scope = request_.scope,
                                                         .tokens = tokens_,
                                                         .read_cache = request_.read_cache && read_cache,
                                                         .write_cache = request_.write_cache,
                                                         .priority = request_.priority,
                                                         .ttl = request_.ttl});
  if (!blocks.ok()) return blocks.status();
  blocks_ = *std::move(blocks);
  loading_ = true;
  load_began_ = now;
  return absl::OkStatus();
}

LoadState Sequence::Load(ModelRunner& runner, absl::Time now) {
  const LoadState state = blocks_.load_state();
  if (state != LoadState::kReady) return state;
  for (const BlockCopy& copy : blocks_.copies()) runner.CopyKv(copy.from, copy.to, copy.tokens);
  blocks_.CopiesDone();
  loading_ = false;
  computed_ = blocks_.cached_tokens();

  const bool first_time = !account_.acquired_before();
  account_.Loaded(now - load_began_);
  account_.Acquired(blocks_.cached_by_tier(), blocks_.miss_reason());
  if (first_time) sink_->OnStarted(account_.Split());
  return state;
}

void Sequence::Preempt() {
  Publish();
  blocks_ = SequenceBlocks();
  loading_ = false;
  computed_ = 0;
}

void Sequence::Publish() {
  if (computed_ > 0) account_.Written(blocks_.Publish(tokens().first(static_cast<size_t>(computed_))));
}

ComputedTokens Sequence::Computed(int64_t count, int block_tokens) {
  const ComputedTokens run = account_.Computed(computed_, count);
  computed_ += count;
  // An answer is published block by block, not token by token: its open block is of use to nobody until the answer
  // ends.
  if (run.answer == 0 || computed_ % block_tokens == 0) Publish();
  return run;
}

bool Sequence::IsEndToken(TokenId token) const {
  if (!request_.ignore_eos && std::ranges::find(end_tokens_, token) != end_tokens_.end()) return true;
  return std::ranges::find(request_.stop_tokens, token) != request_.stop_tokens.end();
}

std::optional<FinishReason> Sequence::Accept(std::span<const float> logits, absl::Time now) {
  GenerationDelta delta;
  delta.tokens.push_back(sampler_.Sample(logits, length()));
  const TokenId token = delta.tokens.back().token;
  tokens_.push_back(token);
  account_.Sampled(now);

  std::optional<FinishReason> reason;
  if (IsEndToken(token)) {
    reason = FinishReason::kStop;
  } else {
    delta.text = text_.Push(token);
    if (text_.stopped()) reason = FinishReason::kStop;
  }
  if (!reason && length() >= terms_.longest_length) reason = FinishReason::kLength;
  if (reason) delta.text += text_.Finish();
  sink_->OnDelta(std::move(delta));
  return reason;
}

void Sequence::End(FinishReason reason, absl::Time now) {
  Publish();
  blocks_ = SequenceBlocks();
  loading_ = false;
  ended_ = true;
  std::string held_back = text_.Finish();
  if (!held_back.empty()) sink_->OnDelta({.text = std::move(held_back), .tokens = {}});
  sink_->OnFinished(reason, account_.Usage(), account_.Timings(now));
  sink_.reset();
}

void Sequence::Refuse(const absl::Status& why, absl::Time now) {
  ended_ = true;
  sink_->OnRefused(why, account_.Usage(), account_.Timings(now));
  sink_.reset();
}

}  // namespace headstart
