#include "prefix_store/tier/internal/record_codec.h"

#include <limits>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "fmt/format.h"
#include "prefix_store/tier/internal/byte_order.h"
#include "xxhash.h"

namespace headstart::internal {
namespace {

constexpr std::string_view kRecordMagic = "HSBR";
constexpr std::string_view kTrailerMagic = "HSBB";
constexpr size_t kRecordKeyBytes = 36;
constexpr size_t kTrailerBytes = 4 + 4 + 8;
constexpr size_t kChecksumBytes = 8;
constexpr uint8_t kPublic = 0;
constexpr uint8_t kTenant = 1;

void AppendKey(std::string& out, uint64_t high, uint64_t low) {
  AppendBig(out, high);
  AppendBig(out, low);
}

uint64_t RecordChecksum(const PrefixKey& block, std::string_view bytes) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), block.low);
}

int64_t ToSeconds(absl::Time time) {
  if (time == absl::InfiniteFuture()) return std::numeric_limits<int64_t>::max();
  if (time == absl::InfinitePast()) return std::numeric_limits<int64_t>::min();
  return absl::ToUnixSeconds(time);
}

absl::Time FromSeconds(int64_t seconds) {
  if (seconds == std::numeric_limits<int64_t>::max()) return absl::InfiniteFuture();
  if (seconds == std::numeric_limits<int64_t>::min()) return absl::InfinitePast();
  return absl::FromUnixSeconds(seconds);
}

void AppendText(std::string& out, std::string_view text) {
  AppendLittle(out, static_cast<uint32_t>(text.size()));
  out.append(text);
}

std::string_view TakeText(ByteReader& reader) { return reader.TakeBytes(reader.Take<uint32_t>()); }

void AppendScope(std::string& out, const Scope& scope) {
  AppendLittle(out, scope.is_public() ? kPublic : kTenant);
  AppendText(out, scope.tenant());
  AppendText(out, scope.partition());
}

std::optional<Scope> TakeScope(ByteReader& reader) {
  const uint8_t kind = reader.Take<uint8_t>();
  const std::string_view tenant = TakeText(reader);
  const std::string_view partition = TakeText(reader);
  if (kind == kTenant) return Scope::Tenant(std::string(tenant), std::string(partition));
  if (kind == kPublic && tenant.empty() && partition.empty()) return Scope::Public();
  return std::nullopt;
}

void AppendTokens(std::string& out, std::span<const TokenId> tokens) {
  AppendLittle(out, static_cast<uint16_t>(tokens.size()));
  for (const TokenId token : tokens) AppendLittle(out, ToIndex(token));
}

std::optional<std::vector<TokenId>> TakeTokens(ByteReader& reader) {
  const size_t count = reader.Take<uint16_t>();
  const std::string_view bytes = reader.TakeBytes(count * sizeof(TokenId));
  if (count > kMaxBlockTokens || !reader.ok()) return std::nullopt;
  std::vector<TokenId> tokens(count);
  for (size_t i = 0; i < count; ++i) tokens[i] = TokenId{ReadLittle<int32_t>(bytes.substr(i * sizeof(TokenId)))};
  return tokens;
}

absl::Status Damaged(std::string_view what) { return absl::DataLossError(fmt::format("a block's record {}", what)); }

// The fields between the version and the checksum.
absl::StatusOr<BlockRecord> TakeFields(ByteReader& reader) {
  BlockRecord record;
  record.meta.depth = reader.Take<uint32_t>();
  record.meta.hits = reader.Take<uint32_t>();
  record.meta.priority = reader.Take<int8_t>();
  record.meta.expires = FromSeconds(reader.Take<int64_t>());
  record.block_bytes = reader.Take<uint32_t>();
  record.checksum = reader.Take<uint64_t>();
  record.meta.parent.high = reader.Take<uint64_t>();
  record.meta.parent.low = reader.Take<uint64_t>();
  std::optional<Scope> scope = TakeScope(reader);
  std::optional<std::vector<TokenId>> tokens = TakeTokens(reader);
  if (!reader.ok() || !reader.empty()) return Damaged("has another length than its fields");
  if (!scope.has_value()) return Damaged("names no scope");
  if (!tokens.has_value()) return Damaged("has more tokens than a block");
  record.meta.scope = *std::move(scope);
  record.meta.tokens = *std::move(tokens);
  return record;
}

}  // namespace

std::string EncodeRecordKey(const RecordKey& key) {
  std::string bytes;
  bytes.reserve(kRecordKeyBytes);
  AppendKey(bytes, key.fingerprint.high, key.fingerprint.low);
  AppendBig(bytes, key.depth);
  AppendKey(bytes, key.block.high, key.block.low);
  return bytes;
}

std::optional<RecordKey> DecodeRecordKey(std::string_view bytes) {
  if (bytes.size() != kRecordKeyBytes) return std::nullopt;
  return RecordKey{.fingerprint = {ReadBig<uint64_t>(bytes), ReadBig<uint64_t>(bytes.substr(8))},
                   .depth = ReadBig<uint32_t>(bytes.substr(16)),
                   .block = {ReadBig<uint64_t>(bytes.substr(20)), ReadBig<uint64_t>(bytes.substr(28))}};
}

std::string EncodeBytesKey(const Fingerprint& fingerprint, const PrefixKey& block) {
  std::string bytes;
  AppendKey(bytes, fingerprint.high, fingerprint.low);
  AppendKey(bytes, block.high, block.low);
  return bytes;
}

std::string KeysOf(const Fingerprint& fingerprint) {
  std::string bytes;
  AppendKey(bytes, fingerprint.high, fingerprint.low);
  return bytes;
}

std::string KeysAfter(const Fingerprint& fingerprint) {
  const uint64_t low = fingerprint.low + 1;
  const uint64_t high = fingerprint.high + (low == 0 ? 1 : 0);
  return low == 0 && high == 0 ? std::string() : KeysOf({high, low});
}

std::string EncodeRecord(const PrefixKey& block, const BlockRecord& record) {
  std::string bytes(kRecordMagic);
  AppendLittle(bytes, kRecordVersion);
  AppendLittle(bytes, record.meta.depth);
  AppendLittle(bytes, record.meta.hits);
  AppendLittle(bytes, record.meta.priority);
  AppendLittle(bytes, ToSeconds(record.meta.expires));
  AppendLittle(bytes, record.block_bytes);
  AppendLittle(bytes, record.checksum);
  AppendLittle(bytes, record.meta.parent.high);
  AppendLittle(bytes, record.meta.parent.low);
  AppendScope(bytes, record.meta.scope);
  AppendTokens(bytes, record.meta.tokens);
  AppendLittle(bytes, RecordChecksum(block, bytes));
  return bytes;
}

absl::StatusOr<BlockRecord> DecodeRecord(const PrefixKey& block, std::string_view bytes) {
  if (bytes.size() < kRecordMagic.size() + sizeof(kRecordVersion) + kChecksumBytes) return Damaged("is cut short");
  const std::string_view fields = bytes.substr(0, bytes.size() - kChecksumBytes);
  if (RecordChecksum(block, fields) != ReadLittle<uint64_t>(bytes.substr(fields.size()))) {
    return Damaged("has another checksum than its bytes");
  }
  ByteReader reader(fields);
  if (reader.TakeBytes(kRecordMagic.size()) != kRecordMagic) return Damaged("does not begin as one");
  const uint16_t version = reader.Take<uint16_t>();
  if (version != kRecordVersion) {
    return Damaged(fmt::format("has version {}, and this program reads {}", version, kRecordVersion));
  }
  return TakeFields(reader);
}

std::string EncodeTrailer(const BlockBytes& bytes) {
  std::string trailer(kTrailerMagic);
  AppendLittle(trailer, static_cast<uint32_t>(bytes.bytes.size()));
  AppendLittle(trailer, bytes.checksum);
  return trailer;
}

absl::StatusOr<BlockBytes> DecodeBytes(const PrefixKey& block, int64_t block_bytes, std::string_view stored) {
  const size_t size = static_cast<size_t>(block_bytes);
  if (stored.size() != size + kTrailerBytes) {
    return absl::DataLossError(fmt::format("a block of {} bytes was stored as {} bytes", block_bytes, stored.size()));
  }
  ByteReader trailer(stored.substr(size));
  if (trailer.TakeBytes(kTrailerMagic.size()) != kTrailerMagic || trailer.Take<uint32_t>() != size) {
    return absl::DataLossError("what follows a block's bytes is not its trailer");
  }
  const BlockBytes bytes{std::as_bytes(std::span(stored.substr(0, size))), trailer.Take<uint64_t>()};
  if (BlockChecksum(block, bytes.bytes) != bytes.checksum) {
    return absl::DataLossError("a block's bytes are not those that were written, or another block's");
  }
  return bytes;
}

}  // namespace headstart::internal
