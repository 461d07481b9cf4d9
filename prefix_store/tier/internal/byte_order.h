// Integers as bytes in a stated order, whatever the machine's.
//
// Thread-safety: pure functions.

#ifndef HEADSTART_PREFIX_STORE_TIER_INTERNAL_BYTE_ORDER_H_
#define HEADSTART_PREFIX_STORE_TIER_INTERNAL_BYTE_ORDER_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace headstart::internal {

template <std::integral T>
void AppendLittle(std::string& out, T value) {
  const auto bits = static_cast<uint64_t>(value);
  for (size_t i = 0; i < sizeof(T); ++i) out.push_back(static_cast<char>(bits >> (8 * i)));
}

// Big-endian integers sort as bytes as they do as numbers.
template <std::unsigned_integral T>
void AppendBig(std::string& out, T value) {
  for (size_t i = sizeof(T); i-- > 0;) out.push_back(static_cast<char>(value >> (8 * i)));
}

// REQUIRES: bytes.size() >= sizeof(T).
template <std::integral T>
T ReadLittle(std::string_view bytes) {
  uint64_t bits = 0;
  for (size_t i = sizeof(T); i-- > 0;) bits = bits << 8 | static_cast<unsigned char>(bytes[i]);
  return static_cast<T>(bits);
}

template <std::unsigned_integral T>
T ReadBig(std::string_view bytes) {
  uint64_t bits = 0;
  for (size_t i = 0; i < sizeof(T); ++i) bits = bits << 8 | static_cast<unsigned char>(bytes[i]);
  return static_cast<T>(bits);
}

}  // namespace headstart::internal

#endif  // HEADSTART_PREFIX_STORE_TIER_INTERNAL_BYTE_ORDER_H_
