// Blocks of other fingerprints: of another model, layout or block size than is served now. No lookup can find them;
// they only take space.
//
// Thread-safety: as the database.

#ifndef HEADSTART_PREFIX_STORE_TIER_INTERNAL_FOREIGN_RECORDS_H_
#define HEADSTART_PREFIX_STORE_TIER_INTERNAL_FOREIGN_RECORDS_H_

#include <atomic>
#include <cstdint>

#include "absl/status/statusor.h"
#include "prefix_store/tier/internal/block_database.h"
#include "prefix_store/types.h"

namespace headstart::internal {

// False also when it cannot be read: then nothing is removed.
bool HasForeignRecords(BlockDatabase& database, const Fingerprint& own);

// Deletes them and merges tables, so that files with nothing else in them go. Returns how many there were. Ends early,
// with what is done so far, when `stop` becomes true.
absl::StatusOr<int64_t> RemoveForeignRecords(BlockDatabase& database, const Fingerprint& own, std::atomic<bool>& stop);

}  // namespace headstart::internal

#endif  // HEADSTART_PREFIX_STORE_TIER_INTERNAL_FOREIGN_RECORDS_H_
