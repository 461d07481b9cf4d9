// API keys: 256 random bits as text, and the digest by which a server knows them.
//
// One SHA-256 is right for them. Slow hashes such as Argon2 protect secrets that people choose and that can be guessed;
// 2^256 keys cannot be, however fast each guess is, and a slow hash would cost every request its time.
//
// Thread-safety: free functions and plain values.
//
//   auto key = NewApiKey();                       // shown once, kept nowhere
//   keys_file << ToHex(DigestOf(*key));

#ifndef HEADSTART_GATEWAY_AUTH_API_KEY_H_
#define HEADSTART_GATEWAY_AUTH_API_KEY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace headstart {

inline constexpr size_t kApiKeyBytes = 32;

// What every key begins with, so that scanners for leaked secrets can find one.
inline constexpr std::string_view kApiKeyPrefix = "hsk_";

// Fills all of it with bytes that nobody can predict; false when it cannot.
using SecureRandom = std::function<bool(std::span<unsigned char>)>;
SecureRandom SystemSecureRandom();

// The prefix, then 64 hexadecimal digits. UNAVAILABLE when there is no randomness.
absl::StatusOr<std::string> NewApiKey(const SecureRandom& random = SystemSecureRandom());

// SHA-256 of a key's text.
using KeyDigest = std::array<uint8_t, 32>;
KeyDigest DigestOf(std::string_view key);

// Takes the same time whatever they are.
bool EqualInConstantTime(const KeyDigest& a, const KeyDigest& b);

std::string ToHex(std::span<const uint8_t> bytes);

// nullopt unless it is exactly 64 hexadecimal digits, of either case.
std::optional<KeyDigest> ParseDigest(std::string_view hex);

// For hash maps: a digest is as good as random already.
struct KeyDigestHash {
  size_t operator()(const KeyDigest& digest) const;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_AUTH_API_KEY_H_
