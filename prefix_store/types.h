// The small types that every layer shares: ids that cannot be mixed up, and the scope that decides who may see a
// prefix.
//
// Thread-safety: plain values.

#ifndef HEADSTART_PREFIX_STORE_TYPES_H_
#define HEADSTART_PREFIX_STORE_TYPES_H_

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace headstart {

// A token of the model's tokenizer.
enum class TokenId : int32_t {};

// A block that the store knows, wherever its bytes lie.
enum class BlockId : uint32_t {};

// A place in device memory that holds one block's bytes: the index of a page of the engine's KV memory.
enum class SlotIndex : uint32_t {};

// The integer behind an id, for indexing and arithmetic.
template <typename Id>
requires std::is_enum_v<Id>
constexpr std::underlying_type_t<Id> ToIndex(Id id) { return static_cast<std::underlying_type_t<Id>>(id); }

// Who may see a prefix: everyone, or one tenant. `partition` divides a tenant further (an adapter, a cache salt).
// Equality is by field, so ("ab", "c") and ("a", "bc") are two scopes. It comes from the authenticated caller, never
// from what a request says.
class Scope {
 public:
  static Scope Public() { return Scope(); }
  static Scope Tenant(std::string tenant, std::string partition = "") {
    Scope scope;
    scope.is_public_ = false;
    scope.tenant_ = std::move(tenant);
    scope.partition_ = std::move(partition);
    return scope;
  }

  bool is_public() const { return is_public_; }
  const std::string& tenant() const { return tenant_; }
  const std::string& partition() const { return partition_; }

  friend bool operator==(const Scope&, const Scope&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const Scope& scope) {
    return H::combine(std::move(state), scope.is_public_, scope.tenant_, scope.partition_);
  }

 private:
  Scope() = default;
  bool is_public_ = true;
  std::string tenant_;
  std::string partition_;
};

// Digest of all that decides the bytes of a KV block: weights, architecture, dtype, layout, block size, kernel numerics
// version, backend kind. A block is only ever reused under an equal fingerprint.
struct Fingerprint {
  uint64_t high = 0;
  uint64_t low = 0;
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_TYPES_H_
