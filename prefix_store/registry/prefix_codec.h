// Registered prefixes as named records, as docs/formats/disk.md specifies them.
//
// Thread-safety: pure functions. Decoding takes any bytes whatever: DATA_LOSS says what is wrong with them,
// UNIMPLEMENTED that a newer program wrote them.

#ifndef HEADSTART_PREFIX_STORE_REGISTRY_PREFIX_CODEC_H_
#define HEADSTART_PREFIX_STORE_REGISTRY_PREFIX_CODEC_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "prefix_store/registry/registered_prefix.h"

namespace headstart {

inline constexpr uint16_t kPrefixRecordVersion = 1;

struct PrefixRecord {
  RegisteredPrefix prefix;
  uint64_t vocabulary = 0;  // what its tokens are of
  friend bool operator==(const PrefixRecord&, const PrefixRecord&) = default;
};

// The name of the record; of different scopes or ids, different ones.
std::string PrefixRecordName(const Scope& scope, std::string_view id);
bool IsPrefixRecordName(std::string_view name);

std::string EncodePrefix(const PrefixRecord& record);
absl::StatusOr<PrefixRecord> DecodePrefix(std::string_view name, std::string_view bytes);

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_REGISTRY_PREFIX_CODEC_H_
