#include "prefix_store/tier/internal/verify_blocks.h"

#include "prefix_store/tier/internal/record_scan.h"
#include "prefix_store/tier/internal/rocks_status.h"
#include "rocksdb/options.h"

namespace headstart::internal {
namespace {

constexpr std::string_view kReading = "cannot read a block from disk";

rocksdb::ReadOptions BlockReadOptions(Checksums checksums) {
  rocksdb::ReadOptions options;
  options.verify_checksums = checksums == Checksums::kAll;
  return options;
}

// Whether a block that the scan still sees has been removed since.
bool IsGone(BlockDatabase& database, std::string_view raw_key) {
  rocksdb::PinnableSlice record;
  return database.db()
      .Get({}, database.records(), rocksdb::Slice(raw_key.data(), raw_key.size()), &record)
      .IsNotFound();
}

bool IsOrphan(const RecordScan& scan) { return absl::IsNotFound(scan.status()); }

absl::Status CheckBytes(BlockDatabase& database, const RecordScan& scan, VerifyReport& report) {
  if (!scan.status().ok() && !IsOrphan(scan)) return scan.status();
  const BlockRecord& record = scan.record();
  rocksdb::PinnableSlice stored;
  const absl::StatusOr<BlockBytes> bytes =
      GetBlock(database, scan.key()->fingerprint, scan.key()->block, record.block_bytes, Checksums::kAll, stored);
  report.bytes += static_cast<int64_t>(stored.size());
  if (!bytes.ok()) return bytes.status();
  if (bytes->checksum == record.checksum) return absl::OkStatus();
  return absl::DataLossError("a block's bytes are not those that its record was written with");
}

}  // namespace

absl::StatusOr<BlockBytes> GetBlock(BlockDatabase& database, const Fingerprint& fingerprint, const PrefixKey& key,
                                    int64_t block_bytes, Checksums checksums, rocksdb::PinnableSlice& stored) {
  const rocksdb::Status status =
      database.db().Get(BlockReadOptions(checksums), database.bytes(), EncodeBytesKey(fingerprint, key), &stored);
  if (!status.ok()) return FromRocks(status, kReading);
  return DecodeBytes(key, block_bytes, ToView(stored));
}

absl::StatusOr<VerifyReport> VerifyBlocks(BlockDatabase& database, const std::optional<Fingerprint>& fingerprint,
                                          absl::FunctionRef<void(std::string_view raw_key, const BadBlock&)> bad) {
  VerifyReport report;
  RecordScan scan(database, {.fingerprint = fingerprint, .block_bytes = std::nullopt});
  for (; scan.Valid(); scan.Next()) {
    ++report.blocks;
    absl::Status status = CheckBytes(database, scan, report);
    if (status.ok()) {
      report.orphan_blocks += IsOrphan(scan) ? 1 : 0;
      continue;
    }
    if (absl::IsNotFound(status) && IsGone(database, scan.raw_key())) {
      --report.blocks;
      continue;
    }
    ++report.bad_blocks;
    const RecordKey key = scan.key().value_or(RecordKey());
    bad(scan.raw_key(), {.key = key.block, .depth = key.depth, .status = std::move(status)});
  }
  if (absl::Status status = scan.io_status(); !status.ok()) return status;
  return report;
}

}  // namespace headstart::internal
