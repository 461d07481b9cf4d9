#include "prefix_store/tier/tier.h"

#include "xxhash.h"
#if defined(__x86_64__)
// Makes XXH3 choose the widest vectors that this machine has, at run time: twice as fast as the least common ones.
#include "xxh_x86dispatch.h"
#endif

namespace headstart {

std::string_view TierName(TierKind kind) {
  switch (kind) {
    case TierKind::kDevice:
      return "device";
    case TierKind::kHost:
      return "host";
    case TierKind::kDisk:
      return "disk";
  }
  return "unknown";
}

uint64_t BlockChecksum(const PrefixKey& key, std::span<const std::byte> bytes) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), key.low);
}

}  // namespace headstart
