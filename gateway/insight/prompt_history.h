// PromptHistory: the last prompts of every tenant, as far as a cap on memory goes: what misses are explained from.
//
// Thread-safety: every method may be called from any thread. Remember takes a lock for as long as it takes to append.
// Ownership: prompts are shared with whoever took a snapshot; they never change.
//
// Prompts are kept in memory only, and never leave it but as answers to whoever may see them.

#ifndef HEADSTART_GATEWAY_INSIGHT_PROMPT_HISTORY_H_
#define HEADSTART_GATEWAY_INSIGHT_PROMPT_HISTORY_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "engine/mutex.h"
#include "prefix_store/prefix_store.h"
#include "prefix_store/types.h"

namespace headstart {

// One prompt, and what the cache said of it.
struct RememberedPrompt {
  absl::Time time;
  std::vector<TokenId> tokens;  // its beginning, as much as is kept
  int64_t prompt_tokens = 0;    // all of it
  int64_t cached_tokens = 0;
  MissReason miss_reason = MissReason::kNone;

  int64_t computed_tokens() const { return prompt_tokens - cached_tokens; }
};

using RememberedPrompts = std::vector<std::shared_ptr<const RememberedPrompt>>;

struct PromptHistoryOptions {
  int64_t max_bytes = 64 << 20;           // of all tenants' tokens; 0 remembers nothing
  int64_t max_tokens_of_a_prompt = 8192;  // what lies beyond is rarely where prompts begin to differ
};

class PromptHistory {
 public:
  explicit PromptHistory(const PromptHistoryOptions& options) : options_(options) {}

  bool enabled() const { return options_.max_bytes > 0; }

  // As much of a prompt as is kept.
  std::vector<TokenId> Beginning(const std::vector<TokenId>& prompt) const;

  // Makes room by forgetting the oldest prompt of the tenant that takes most: once memory is full, in a time that grows
  // with the number of tenants that are remembered.
  void Remember(const std::string& tenant, RememberedPrompt prompt) ABSL_LOCKS_EXCLUDED(mutex_);

  // A tenant's prompts, oldest first.
  RememberedPrompts Of(std::string_view tenant) const ABSL_LOCKS_EXCLUDED(mutex_);

  // Tenants with prompts, in no order.
  std::vector<std::string> tenants() const ABSL_LOCKS_EXCLUDED(mutex_);

  void Forget(std::string_view tenant) ABSL_LOCKS_EXCLUDED(mutex_);
  void ForgetAll() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct TenantPrompts {
    std::deque<std::shared_ptr<const RememberedPrompt>> prompts;
    int64_t bytes = 0;
  };
  using Tenants = absl::flat_hash_map<std::string, TenantPrompts>;

  void MakeRoom() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const PromptHistoryOptions options_;
  mutable Mutex mutex_;
  Tenants tenants_ ABSL_GUARDED_BY(mutex_);
  int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_INSIGHT_PROMPT_HISTORY_H_
