// SequenceMemory: how sequences ended, kept longer than their blocks, so that a conversation that comes back is known
// by its prefix also when none of it is cached any more; and which prefixes are being watched for reuse.
//
// Thread-safety: none.
// Bounded: with `capacity` prefixes in it, the one longest unused is forgotten for a new one. About 80 bytes a prefix.

#ifndef HEADSTART_PREFIX_STORE_EVICTION_SEQUENCE_MEMORY_H_
#define HEADSTART_PREFIX_STORE_EVICTION_SEQUENCE_MEMORY_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "prefix_store/eviction/id_lists.h"
#include "prefix_store/eviction/policy.h"

namespace headstart {

class SequenceMemory {
 public:
  struct Prefix {
    uint64_t hash = 0;
    AgeMs at{};               // last touched
    uint32_t blocks = 0;      // of the last sequence that ended here
    uint32_t turn = 0;        // which turn of its conversation it was
    uint32_t ends = 0;        // sequences that ended here
    uint8_t watched = 0;      // whether a reuse is waited for
    uint8_t block_class = 0;  // under which it is
  };

  explicit SequenceMemory(int64_t capacity);

  // Null when it is not known. Valid until the next Touch.
  Prefix* Find(uint64_t hash);

  // Finds or adds the prefix and makes it as young as can be. REQUIRES: `now` is not before that of any earlier call.
  Prefix& Touch(uint64_t hash, AgeMs now);

  // Calls `reached` for each watched prefix and each bucket of ages that it has come to since the last call.
  void Age(AgeMs now, absl::FunctionRef<void(const Prefix&, int age_bucket)> reached);

  int64_t size() const { return static_cast<int64_t>(ids_.size()); }

 private:
  enum class PrefixId : uint32_t {};

  PrefixId Add(uint64_t hash);
  PrefixId Oldest() const;

  int64_t capacity_;
  absl::flat_hash_map<uint64_t, PrefixId> ids_;
  std::vector<Prefix> prefixes_;  // by id
  IdLists<PrefixId> by_age_;      // a list for each bucket of ages
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_EVICTION_SEQUENCE_MEMORY_H_
