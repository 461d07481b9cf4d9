#include "engine/scheduler/account.h"

#include <algorithm>

namespace headstart {

void Account::Acquired(const TokensByTier& cached, MissReason reason) {
  if (!acquired_) usage_.miss_reason = reason;
  acquired_ = true;
  // Of the tokens from `first` on, `count` in number: those of the prompt that were never counted.
  const auto fresh = [this](int64_t first, int64_t count) {
    return std::max<int64_t>(0, std::min(first + count, prompt_tokens_) - std::max(first, counted_));
  };
  usage_.cached_device_tokens += fresh(0, cached.device);
  usage_.cached_host_tokens += fresh(cached.device, cached.host);
  usage_.cached_disk_tokens += fresh(cached.device + cached.host, cached.disk);
  counted_ = std::max(counted_, cached.sum());
}

ComputedTokens Account::Computed(int64_t first, int64_t count) {
  const int64_t end = first + count;
  ComputedTokens run;
  run.again = std::clamp(counted_ - first, int64_t{0}, count);
  run.prompt = std::max(int64_t{0}, std::min(end, prompt_tokens_) - std::max(first, counted_));
  run.answer = count - run.again - run.prompt;
  counted_ = std::max(counted_, end);
  usage_.recomputed_tokens += run.again;
  usage_.computed_prompt_tokens += run.prompt;
  return run;
}

void Account::Working(absl::Time now) {
  if (!started_) started_ = now;
}

void Account::Sampled(absl::Time now) {
  if (!first_token_) first_token_ = now;
  last_token_ = now;
  ++usage_.completion_tokens;
}

GenerationUsage Account::Split() const {
  GenerationUsage split = usage_;
  split.prompt_tokens = prompt_tokens_;
  split.computed_prompt_tokens = prompt_tokens_ - split.cached_tokens();
  return split;
}

GenerationUsage Account::Usage() const {
  GenerationUsage usage = usage_;
  usage.prompt_tokens = usage.cached_tokens() + usage.computed_prompt_tokens;
  return usage;
}

GenerationTimings Account::Timings(absl::Time now) const {
  GenerationTimings timings;
  const absl::Time started = started_.value_or(now);
  const absl::Time first_token = first_token_.value_or(now);
  timings.queue = started - submitted_;
  timings.load = load_;
  timings.prefill = first_token - started;
  timings.ttft = timings.queue + timings.prefill;
  if (first_token_) timings.decode = last_token_ - first_token;
  timings.total = now - submitted_;
  return timings;
}

}  // namespace headstart
