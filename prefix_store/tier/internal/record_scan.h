// RecordScan: walks the records of the disk tier in their order, every parent before its children, and says of each
// whether it can be believed.
//
// Thread-safety: none of its own; any number of scans may run at once.
// Ownership: the database outlives the scan.
//
//   RecordScan scan(database, {.fingerprint = fingerprint});
//   for (; scan.Valid(); scan.Next()) if (scan.status().ok()) Use(scan.key(), scan.record());
//   return scan.io_status();

#ifndef HEADSTART_PREFIX_STORE_TIER_INTERNAL_RECORD_SCAN_H_
#define HEADSTART_PREFIX_STORE_TIER_INTERNAL_RECORD_SCAN_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "prefix_store/prefix_key.h"
#include "prefix_store/tier/internal/block_database.h"
#include "prefix_store/tier/internal/record_codec.h"
#include "prefix_store/types.h"
#include "rocksdb/iterator.h"
#include "rocksdb/slice.h"

namespace headstart::internal {

class RecordScan {
 public:
  // Which records; any, when not set.
  struct Filter {
    std::optional<Fingerprint> fingerprint;
    std::optional<int64_t> block_bytes;  // records of other sizes are no good
  };

  RecordScan(BlockDatabase& database, const Filter& filter);

  bool Valid() const { return iterator_->Valid(); }
  void Next();

  // Where the scan is: OK, or why this record is no good: DATA_LOSS, NOT_FOUND for one whose parent is.
  const absl::Status& status() const { return status_; }
  std::string_view raw_key() const;
  const std::optional<RecordKey>& key() const { return key_; }  // none when it is none
  const BlockRecord& record() const { return record_; }         // REQUIRES: status() is OK or NOT_FOUND

  // Once it is not valid any more: whether it came to its end.
  absl::Status io_status() const;

 private:
  void Look();
  absl::Status Check();
  absl::Status CheckPlace(const RecordKey& key, const BlockMeta& meta);
  const ScopeDigest& Digest(const Scope& scope);
  void StartDepth(const RecordKey& key);

  const std::optional<int64_t> block_bytes_;
  const std::string end_;
  const rocksdb::Slice end_slice_;
  std::unique_ptr<rocksdb::Iterator> iterator_;

  absl::Status status_;
  std::optional<RecordKey> key_;
  BlockRecord record_;

  // Good records of the depth before the current one, and of the current one.
  Fingerprint fingerprint_;
  uint32_t depth_ = 0;
  absl::flat_hash_set<PrefixKey> parents_;
  absl::flat_hash_set<PrefixKey> blocks_;

  // Neighbours mostly share their scope.
  Scope scope_ = Scope::Public();
  ScopeDigest digest_ = DigestOf(Scope::Public());
};

}  // namespace headstart::internal

#endif  // HEADSTART_PREFIX_STORE_TIER_INTERNAL_RECORD_SCAN_H_
