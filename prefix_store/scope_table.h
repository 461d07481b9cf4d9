// Scopes as small integers. A scope is interned by comparing its fields, so no two scopes share an id however their
// names concatenate; it is forgotten when its last use ends, so one-off cache salts do not pile up.
//
// Thread-safety: none; the scheduler thread's.
// Ownership: the table outlives every Use.

#ifndef HEADSTART_PREFIX_STORE_SCOPE_TABLE_H_
#define HEADSTART_PREFIX_STORE_SCOPE_TABLE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "prefix_store/block_hash.h"
#include "prefix_store/prefix_key.h"
#include "prefix_store/types.h"

namespace headstart {

enum class ScopeId : uint32_t {};

inline constexpr ScopeId kPublicScope{0};

class ScopeTable {
 public:
  // Keeps one scope's id valid. Move-only; an empty one stands for the public scope.
  class Use {
   public:
    Use() = default;
    Use(Use&& other) noexcept : table_(std::exchange(other.table_, nullptr)), id_(other.id_) {}
    Use& operator=(Use&& other) noexcept {
      std::swap(table_, other.table_);
      std::swap(id_, other.id_);
      return *this;
    }
    ~Use() {
      if (table_ != nullptr) table_->Drop(id_);
    }

    ScopeId id() const { return id_; }

    // A second use of the same scope.
    Use Copy() const;

   private:
    friend class ScopeTable;
    Use(ScopeTable* table, ScopeId id) : table_(table), id_(id) {}
    ScopeTable* table_ = nullptr;
    ScopeId id_ = kPublicScope;
  };

  explicit ScopeTable(const BlockHasher& hasher);

  Use Intern(const Scope& scope);

  // The id of `scope`; that of the public scope when nothing of `scope` is known, since it can see nothing more.
  ScopeId Find(const Scope& scope) const;

  // `prefix_hash` made particular to a scope, by its fields: it outlives the scope's id.
  uint64_t Salted(uint64_t prefix_hash, const Scope& scope) const { return hasher_.Combine(prefix_hash, Salt(scope)); }
  uint64_t Salted(uint64_t prefix_hash, ScopeId id) const {
    return hasher_.Combine(prefix_hash, entries_[ToIndex(id)].salt);
  }

  // REQUIRES: the id is in use.
  const Scope& Get(ScopeId id) const { return entries_[ToIndex(id)].scope; }
  const ScopeDigest& Digest(ScopeId id) const { return entries_[ToIndex(id)].digest; }

  // Scopes in use, the public one included.
  int64_t size() const { return static_cast<int64_t>(ids_.size()) + 1; }

 private:
  struct Entry {
    Scope scope;
    uint64_t salt;
    ScopeDigest digest;
    int64_t uses;
  };

  uint64_t Salt(const Scope& scope) const;
  ScopeId Add(const Scope& scope);
  void Drop(ScopeId id);

  const BlockHasher& hasher_;
  absl::flat_hash_map<Scope, ScopeId> ids_;  // tenants' scopes
  std::vector<Entry> entries_;               // by id; entry 0 is the public scope
  std::vector<ScopeId> unused_;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_SCOPE_TABLE_H_
