// The records of the disk tier as bytes, as docs/formats/disk.md specifies them.
//
//   record   key: fingerprint ‖ depth ‖ block key      value: what BlockRecord holds, with a checksum of its own
//   bytes    key: fingerprint ‖ block key              value: the block's bytes ‖ a trailer with their checksum
//
// Thread-safety: pure functions. Decoding takes any bytes whatever: DATA_LOSS says what is wrong with them.

#ifndef HEADSTART_PREFIX_STORE_TIER_INTERNAL_RECORD_CODEC_H_
#define HEADSTART_PREFIX_STORE_TIER_INTERNAL_RECORD_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "prefix_store/prefix_key.h"
#include "prefix_store/tier/block_meta.h"
#include "prefix_store/tier/tier.h"
#include "prefix_store/types.h"

namespace headstart::internal {

inline constexpr uint16_t kRecordVersion = 1;

// What is known of a block without reading its bytes.
struct BlockRecord {
  BlockMeta meta;
  uint64_t checksum = 0;     // BlockChecksum of its bytes
  uint32_t block_bytes = 0;  // how many they are
  friend bool operator==(const BlockRecord&, const BlockRecord&) = default;
};

// Under this key a record lies: one scan of a fingerprint's records meets every parent before its children.
struct RecordKey {
  Fingerprint fingerprint;
  uint32_t depth = 0;
  PrefixKey block;
  friend bool operator==(const RecordKey&, const RecordKey&) = default;
};

std::string EncodeRecordKey(const RecordKey& key);
std::optional<RecordKey> DecodeRecordKey(std::string_view bytes);

std::string EncodeBytesKey(const Fingerprint& fingerprint, const PrefixKey& block);

// What all keys of a fingerprint begin with, and the first key after them; empty when there can be none.
std::string KeysOf(const Fingerprint& fingerprint);
std::string KeysAfter(const Fingerprint& fingerprint);

// Times are kept to the second; REQUIRES: at most kMaxBlockTokens tokens.
std::string EncodeRecord(const PrefixKey& block, const BlockRecord& record);
absl::StatusOr<BlockRecord> DecodeRecord(const PrefixKey& block, std::string_view bytes);

// What follows a block's bytes.
std::string EncodeTrailer(const BlockBytes& bytes);

// The block in what was stored under its bytes key, verified. It points into `stored`.
absl::StatusOr<BlockBytes> DecodeBytes(const PrefixKey& block, int64_t block_bytes, std::string_view stored);

}  // namespace headstart::internal

#endif  // HEADSTART_PREFIX_STORE_TIER_INTERNAL_RECORD_CODEC_H_
