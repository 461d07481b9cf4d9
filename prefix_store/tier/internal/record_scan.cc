#include "prefix_store/tier/internal/record_scan.h"

#include <utility>

#include "prefix_store/tier/internal/rocks_status.h"
#include "rocksdb/options.h"

namespace headstart::internal {
namespace {

constexpr size_t kReadahead = 2 << 20;

rocksdb::ReadOptions ScanOptions(const rocksdb::Slice* end) {
  rocksdb::ReadOptions options;
  options.readahead_size = kReadahead;
  options.fill_cache = false;
  if (!end->empty()) options.iterate_upper_bound = end;
  return options;
}

}  // namespace

RecordScan::RecordScan(BlockDatabase& database, const Filter& filter)
    : block_bytes_(filter.block_bytes),
      end_(filter.fingerprint.has_value() ? KeysAfter(*filter.fingerprint) : std::string()),
      end_slice_(end_),
      iterator_(database.db().NewIterator(ScanOptions(&end_slice_), database.records())) {
  if (filter.fingerprint.has_value()) {
    iterator_->Seek(KeysOf(*filter.fingerprint));
  } else {
    iterator_->SeekToFirst();
  }
  Look();
}

void RecordScan::Next() {
  iterator_->Next();
  Look();
}

std::string_view RecordScan::raw_key() const { return ToView(iterator_->key()); }

absl::Status RecordScan::io_status() const {
  return FromRocks(iterator_->status(), "cannot read the records of the disk tier");
}

void RecordScan::Look() {
  if (!Valid()) return;
  status_ = Check();
  if (status_.ok()) blocks_.insert(key_->block);
}

absl::Status RecordScan::Check() {
  key_ = DecodeRecordKey(raw_key());
  if (!key_.has_value()) return absl::DataLossError("a record lies under a key that is none");
  StartDepth(*key_);
  absl::StatusOr<BlockRecord> record = DecodeRecord(key_->block, ToView(iterator_->value()));
  if (!record.ok()) return record.status();
  record_ = *std::move(record);
  if (record_.block_bytes != block_bytes_.value_or(record_.block_bytes)) {
    return absl::DataLossError("a block has another size than those of this cache");
  }
  return CheckPlace(*key_, record_.meta);
}

// That the record is its key's, which is a digest of what it says, and that its parent is there and good.
absl::Status RecordScan::CheckPlace(const RecordKey& key, const BlockMeta& meta) {
  if (meta.depth != key.depth || ChainKey(meta.parent, Digest(meta.scope), meta.tokens) != key.block) {
    return absl::DataLossError("a record lies under another block's key");
  }
  const bool parent_is_here = key.depth == 0 ? meta.parent == RootKey(key.fingerprint) : parents_.contains(meta.parent);
  return parent_is_here ? absl::OkStatus() : absl::NotFoundError("the block before this one is not there");
}

const ScopeDigest& RecordScan::Digest(const Scope& scope) {
  if (scope != scope_) {
    scope_ = scope;
    digest_ = DigestOf(scope);
  }
  return digest_;
}

// At a new depth the blocks so far become the parents; after a gap, or in another fingerprint's records, none are.
void RecordScan::StartDepth(const RecordKey& key) {
  const bool same = key.fingerprint == fingerprint_;
  if (same && key.depth == depth_) return;
  parents_.clear();
  if (same && key.depth == depth_ + 1) parents_.swap(blocks_);
  blocks_.clear();
  fingerprint_ = key.fingerprint;
  depth_ = key.depth;
}

}  // namespace headstart::internal
