// Integers as bytes in a stated order, whatever the machine's, and a reader of such bytes.
//
// Thread-safety: pure functions; a reader is its owner's.

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

// Takes fields from the front of bytes; once they run out, what it gives is zero and empty and ok() is false.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  template <std::integral T>
  T Take() {
    const std::string_view field = TakeBytes(sizeof(T));
    return ok_ ? ReadLittle<T>(field) : T{0};
  }

  std::string_view TakeBytes(size_t size) {
    ok_ = ok_ && size <= bytes_.size();
    if (!ok_) return {};
    const std::string_view field = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return field;
  }

  bool ok() const { return ok_; }
  bool empty() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool ok_ = true;
};

}  // namespace headstart::internal

#endif  // HEADSTART_PREFIX_STORE_TIER_INTERNAL_BYTE_ORDER_H_
