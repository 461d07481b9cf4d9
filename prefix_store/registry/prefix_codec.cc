#include "prefix_store/registry/prefix_codec.h"

#include <limits>

#include "fmt/format.h"
#include "prefix_store/tier/internal/byte_order.h"
#include "xxhash.h"

namespace headstart {
namespace {

using internal::AppendLittle;
using internal::ByteReader;

constexpr std::string_view kNameStart = "prefix:";
constexpr std::string_view kMagic = "HSPR";
constexpr size_t kChecksumBytes = 8;
constexpr int64_t kNoExpiry = std::numeric_limits<int64_t>::max();
constexpr uint8_t kPublic = 0;
constexpr uint8_t kTenant = 1;

void AppendText(std::string& out, std::string_view text) {
  AppendLittle(out, static_cast<uint32_t>(text.size()));
  out += text;
}

std::string TakeText(ByteReader& reader) { return std::string(reader.TakeBytes(reader.Take<uint32_t>())); }

void AppendScope(std::string& out, const Scope& scope) {
  out.push_back(static_cast<char>(scope.is_public() ? kPublic : kTenant));
  AppendText(out, scope.tenant());
  AppendText(out, scope.partition());
}

Scope TakeScope(ByteReader& reader) {
  const bool is_public = reader.Take<uint8_t>() == kPublic;
  std::string tenant = TakeText(reader);
  std::string partition = TakeText(reader);
  return is_public ? Scope::Public() : Scope::Tenant(std::move(tenant), std::move(partition));
}

int64_t ToMicros(absl::Time time) { return time == absl::InfiniteFuture() ? kNoExpiry : absl::ToUnixMicros(time); }
absl::Time FromMicros(int64_t micros) {
  return micros == kNoExpiry ? absl::InfiniteFuture() : absl::FromUnixMicros(micros);
}

// Bytes that claim more tokens than they have must not make this take memory for them.
std::vector<TokenId> TakeTokens(ByteReader& reader) {
  std::vector<TokenId> tokens;
  for (uint32_t left = reader.Take<uint32_t>(); left > 0 && reader.ok(); --left) {
    tokens.push_back(TokenId{reader.Take<int32_t>()});
  }
  return tokens;
}

uint64_t ChecksumOf(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

PrefixRecord TakeRecord(ByteReader& reader) {
  PrefixRecord record;
  record.vocabulary = reader.Take<uint64_t>();
  record.prefix.scope = TakeScope(reader);
  record.prefix.id = TakeText(reader);
  record.prefix.display_name = TakeText(reader);
  record.prefix.created = FromMicros(reader.Take<int64_t>());
  record.prefix.expires = FromMicros(reader.Take<int64_t>());
  record.prefix.tokens = TakeTokens(reader);
  return record;
}

}  // namespace

std::string PrefixRecordName(const Scope& scope, std::string_view id) {
  std::string name(kNameStart);
  AppendScope(name, scope);
  AppendText(name, id);
  return name;
}

bool IsPrefixRecordName(std::string_view name) { return name.starts_with(kNameStart); }

std::string EncodePrefix(const PrefixRecord& record) {
  const RegisteredPrefix& prefix = record.prefix;
  std::string out(kMagic);
  AppendLittle(out, kPrefixRecordVersion);
  AppendLittle(out, record.vocabulary);
  AppendScope(out, prefix.scope);
  AppendText(out, prefix.id);
  AppendText(out, prefix.display_name);
  AppendLittle(out, ToMicros(prefix.created));
  AppendLittle(out, ToMicros(prefix.expires));
  AppendLittle(out, static_cast<uint32_t>(prefix.tokens.size()));
  for (const TokenId token : prefix.tokens) AppendLittle(out, ToIndex(token));
  AppendLittle(out, ChecksumOf(out));
  return out;
}

// The version comes first: of what follows it, only the programs that know it can say anything.
absl::StatusOr<PrefixRecord> DecodePrefix(std::string_view name, std::string_view bytes) {
  ByteReader start(bytes);
  if (start.TakeBytes(kMagic.size()) != kMagic) return absl::DataLossError("a registered prefix's record is no such");
  const uint16_t version = start.Take<uint16_t>();
  if (version > kPrefixRecordVersion) {
    return absl::UnimplementedError(fmt::format(
        "a registered prefix's record has version {}, and this program knows {}", version, kPrefixRecordVersion));
  }
  if (bytes.size() < kChecksumBytes) return absl::DataLossError("a registered prefix's record is cut short");
  const std::string_view body = bytes.substr(0, bytes.size() - kChecksumBytes);
  if (internal::ReadLittle<uint64_t>(bytes.substr(body.size())) != ChecksumOf(body)) {
    return absl::DataLossError("a registered prefix's record does not match its checksum");
  }
  ByteReader reader(body.substr(kMagic.size() + sizeof(version)));
  PrefixRecord record = TakeRecord(reader);
  const bool whole = version == kPrefixRecordVersion && reader.ok() && reader.empty();
  if (!whole || PrefixRecordName(record.prefix.scope, record.prefix.id) != name) {
    return absl::DataLossError("a registered prefix's record is not what its name says");
  }
  return record;
}

}  // namespace headstart
