#include "prefix_store/prefix_key.h"

#include <bit>
#include <cstring>
#include <string>
#include <string_view>

#include "xxhash.h"

namespace headstart {
namespace {

static_assert(std::endian::native == std::endian::little, "keys are defined over little-endian words");

void Append(std::string& bytes, std::string_view field) {
  const uint64_t length = field.size();
  bytes.append(reinterpret_cast<const char*>(&length), sizeof(length));
  bytes.append(field);
}

}  // namespace

ScopeDigest DigestOf(const Scope& scope) {
  std::string bytes(1, scope.is_public() ? '\0' : '\1');
  Append(bytes, scope.tenant());
  Append(bytes, scope.partition());
  const XXH128_hash_t value = XXH3_128bits(bytes.data(), bytes.size());
  return {value.high64, value.low64};
}

PrefixKey ChainKey(const PrefixKey& parent, const ScopeDigest& scope, TokenSpan tokens) {
  struct {
    uint64_t header[4];
    TokenId tokens[kMaxBlockTokens];
  } bytes;
  bytes.header[0] = parent.high;
  bytes.header[1] = parent.low;
  bytes.header[2] = scope.high;
  bytes.header[3] = scope.low;
  std::memcpy(bytes.tokens, tokens.data(), tokens.size_bytes());
  const XXH128_hash_t value = XXH3_128bits(&bytes, sizeof(bytes.header) + tokens.size_bytes());
  return {value.high64, value.low64};
}

}  // namespace headstart
