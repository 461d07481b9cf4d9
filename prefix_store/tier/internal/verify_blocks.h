// Reading every block there is, to find those that are no good.
//
// Thread-safety: as the database; runs beside reads and writes.

#ifndef HEADSTART_PREFIX_STORE_TIER_INTERNAL_VERIFY_BLOCKS_H_
#define HEADSTART_PREFIX_STORE_TIER_INTERNAL_VERIFY_BLOCKS_H_

#include <optional>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "prefix_store/tier/disk_tier.h"
#include "prefix_store/tier/internal/block_database.h"
#include "prefix_store/types.h"
#include "rocksdb/slice.h"

namespace headstart::internal {

// kOwn: the checksum that came with the block, which finds every wrong byte of it. kAll: those of RocksDB as well,
// which find damage beside the block that only compactions read; it takes several times as long (decision 0010).
enum class Checksums { kOwn, kAll };

// Gets what is stored for a block and verifies it; what it returns points into `stored`.
absl::StatusOr<BlockBytes> GetBlock(BlockDatabase& database, const Fingerprint& fingerprint, const PrefixKey& key,
                                    int64_t block_bytes, Checksums checksums, rocksdb::PinnableSlice& stored);

// Checks all that there is to check. Calls `bad` with the key of its record and what is wrong. `fingerprint`: whose
// blocks, or everyone's.
absl::StatusOr<VerifyReport> VerifyBlocks(BlockDatabase& database, const std::optional<Fingerprint>& fingerprint,
                                          absl::FunctionRef<void(std::string_view raw_key, const BadBlock&)> bad);

}  // namespace headstart::internal

#endif  // HEADSTART_PREFIX_STORE_TIER_INTERNAL_VERIFY_BLOCKS_H_
