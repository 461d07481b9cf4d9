// Account: what one request used and how long it took, kept as the work is done.
//
// Thread-safety: none; one per sequence.
//
// Every position of a sequence is counted once: as found in the cache or as computed, when it first gets its KV. What
// is computed again after a preemption is counted apart, and what is found again is not counted at all.

#ifndef HEADSTART_ENGINE_SCHEDULER_ACCOUNT_H_
#define HEADSTART_ENGINE_SCHEDULER_ACCOUNT_H_

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "engine/generation.h"

namespace headstart {

// Of a run of computed tokens: what each was counted as.
struct ComputedTokens {
  int64_t prompt = 0;
  int64_t answer = 0;
  int64_t again = 0;
};

class Account {
 public:
  Account(int64_t prompt_tokens, absl::Time submitted) : prompt_tokens_(prompt_tokens), submitted_(submitted) {}

  // Memory was acquired, with the KV of the first cached.sum() tokens in it, the device's first, then those that came
  // from host memory, then those from disk. After a preemption only tokens that this request never had before count as
  // cached.
  void Acquired(const TokensByTier& cached, MissReason reason);

  // It waited for cached tokens to come up.
  void Loaded(absl::Duration elapsed) { load_ += elapsed; }

  // The KV of positions first .. first + count − 1 was computed.
  ComputedTokens Computed(int64_t first, int64_t count);

  void Written(int64_t tokens) { usage_.cache_write_tokens += tokens; }
  void Working(absl::Time now);  // a step is about to work on it
  void Sampled(absl::Time now);  // an answer's token was chosen

  bool acquired_before() const { return acquired_; }
  GenerationUsage Split() const;  // as things stand at the first acquisition: what is not cached will be computed
  GenerationUsage Usage() const;
  GenerationTimings Timings(absl::Time now) const;

 private:
  const int64_t prompt_tokens_;
  const absl::Time submitted_;
  std::optional<absl::Time> started_;
  std::optional<absl::Time> first_token_;
  absl::Time last_token_;
  bool acquired_ = false;
  int64_t counted_ = 0;  // positions below it have been counted
  absl::Duration load_;
  GenerationUsage usage_;
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_SCHEDULER_ACCOUNT_H_
