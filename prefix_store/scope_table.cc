#include "prefix_store/scope_table.h"

namespace headstart {

ScopeTable::Use ScopeTable::Use::Copy() const {
  if (table_ != nullptr) ++table_->entries_[ToIndex(id_)].uses;
  return Use(table_, id_);
}

ScopeTable::ScopeTable(const BlockHasher& hasher) : hasher_(hasher) {
  entries_.push_back({Scope::Public(), Salt(Scope::Public()), DigestOf(Scope::Public()), 1});
}

ScopeTable::Use ScopeTable::Intern(const Scope& scope) {
  if (scope.is_public()) return Use();
  const auto found = ids_.find(scope);
  const ScopeId id = found != ids_.end() ? found->second : Add(scope);
  ++entries_[ToIndex(id)].uses;
  return Use(this, id);
}

ScopeId ScopeTable::Find(const Scope& scope) const {
  const auto found = ids_.find(scope);
  return found != ids_.end() ? found->second : kPublicScope;
}

uint64_t ScopeTable::Salt(const Scope& scope) const {
  if (scope.is_public()) return 0;
  return hasher_.Combine(hasher_.Text(scope.tenant()), hasher_.Text(scope.partition()));
}

ScopeId ScopeTable::Add(const Scope& scope) {
  Entry entry{scope, Salt(scope), DigestOf(scope), 0};
  ScopeId id{static_cast<uint32_t>(entries_.size())};
  if (unused_.empty()) {
    entries_.push_back(std::move(entry));
  } else {
    id = unused_.back();
    unused_.pop_back();
    entries_[ToIndex(id)] = std::move(entry);
  }
  ids_.emplace(scope, id);
  return id;
}

void ScopeTable::Drop(ScopeId id) {
  Entry& entry = entries_[ToIndex(id)];
  if (--entry.uses > 0) return;
  ids_.erase(entry.scope);
  unused_.push_back(id);
}

}  // namespace headstart
