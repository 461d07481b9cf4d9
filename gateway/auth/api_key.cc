#include "gateway/auth/api_key.h"

#include <charconv>
#include <cstring>
#include <system_error>

#include "fmt/format.h"
#include "openssl/crypto.h"
#include "openssl/rand.h"
#include "openssl/sha.h"

namespace headstart {

SecureRandom SystemSecureRandom() {
  return [](std::span<unsigned char> bytes) { return RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1; };
}

absl::StatusOr<std::string> NewApiKey(const SecureRandom& random) {
  std::array<unsigned char, kApiKeyBytes> bytes;
  if (!random(bytes)) return absl::UnavailableError("the system has no random bytes to make a key of");
  std::string key = fmt::format("{}{}", kApiKeyPrefix, ToHex(bytes));
  OPENSSL_cleanse(bytes.data(), bytes.size());
  return key;
}

KeyDigest DigestOf(std::string_view key) {
  KeyDigest digest;
  SHA256(reinterpret_cast<const unsigned char*>(key.data()), key.size(), digest.data());
  return digest;
}

bool EqualInConstantTime(const KeyDigest& a, const KeyDigest& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string ToHex(std::span<const uint8_t> bytes) {
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (const uint8_t byte : bytes) fmt::format_to(std::back_inserter(hex), "{:02x}", byte);
  return hex;
}

std::optional<KeyDigest> ParseDigest(std::string_view hex) {
  KeyDigest digest;
  if (hex.size() != 2 * digest.size()) return std::nullopt;
  for (size_t i = 0; i < digest.size(); ++i) {
    const char* begin = hex.data() + 2 * i;
    const auto [rest, error] = std::from_chars(begin, begin + 2, digest[i], 16);
    if (error != std::errc() || rest != begin + 2) return std::nullopt;
  }
  return digest;
}

size_t KeyDigestHash::operator()(const KeyDigest& digest) const {
  size_t hash;
  std::memcpy(&hash, digest.data(), sizeof(hash));
  return hash;
}

}  // namespace headstart
