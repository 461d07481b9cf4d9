#include "gateway/insight/prompt_history.h"

#include <algorithm>
#include <utility>

namespace headstart {
namespace {

int64_t BytesOf(const RememberedPrompt& prompt) {
  return static_cast<int64_t>(sizeof(RememberedPrompt) + prompt.tokens.capacity() * sizeof(TokenId));
}

}  // namespace

std::vector<TokenId> PromptHistory::Beginning(const std::vector<TokenId>& prompt) const {
  if (!enabled()) return {};
  const auto kept = std::min<int64_t>(static_cast<int64_t>(prompt.size()), options_.max_tokens_of_a_prompt);
  return {prompt.begin(), prompt.begin() + kept};
}

void PromptHistory::Remember(const std::string& tenant, RememberedPrompt prompt) {
  if (!enabled()) return;
  auto kept = std::make_shared<const RememberedPrompt>(std::move(prompt));
  MutexLock lock(mutex_);
  TenantPrompts& own = tenants_[tenant];
  own.bytes += BytesOf(*kept);
  bytes_ += BytesOf(*kept);
  own.prompts.push_back(std::move(kept));
  MakeRoom();
}

// Tenants are few, and one prompt has to go for each that comes.
void PromptHistory::MakeRoom() {
  while (bytes_ > options_.max_bytes) {
    const auto largest = std::max_element(tenants_.begin(), tenants_.end(),
                                          [](const auto& a, const auto& b) { return a.second.bytes < b.second.bytes; });
    TenantPrompts& prompts = largest->second;
    const int64_t freed = BytesOf(*prompts.prompts.front());
    prompts.prompts.pop_front();
    prompts.bytes -= freed;
    bytes_ -= freed;
    if (prompts.prompts.empty()) tenants_.erase(largest);
  }
}

RememberedPrompts PromptHistory::Of(std::string_view tenant) const {
  MutexLock lock(mutex_);
  const auto found = tenants_.find(std::string(tenant));
  if (found == tenants_.end()) return {};
  return {found->second.prompts.begin(), found->second.prompts.end()};
}

std::vector<std::string> PromptHistory::tenants() const {
  MutexLock lock(mutex_);
  std::vector<std::string> names;
  names.reserve(tenants_.size());
  for (const auto& [name, prompts] : tenants_) names.push_back(name);
  return names;
}

void PromptHistory::Forget(std::string_view tenant) {
  MutexLock lock(mutex_);
  const auto found = tenants_.find(std::string(tenant));
  if (found == tenants_.end()) return;
  bytes_ -= found->second.bytes;
  tenants_.erase(found);
}

void PromptHistory::ForgetAll() {
  MutexLock lock(mutex_);
  tenants_.clear();
  bytes_ = 0;
}

}  // namespace headstart
