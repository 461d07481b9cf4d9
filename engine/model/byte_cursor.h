// ByteCursor: reads little-endian values from bytes that may be malformed. The first read that does not fit fails the
// cursor; every later one gives zero, so a parser checks ok() where it matters and not after each value.
//
// Thread-safety: none. A view: the bytes outlive it.

#ifndef HEADSTART_ENGINE_MODEL_BYTE_CURSOR_H_
#define HEADSTART_ENGINE_MODEL_BYTE_CURSOR_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace headstart {

static_assert(std::endian::native == std::endian::little, "model files are read as they lie in memory");

class ByteCursor {
 public:
  explicit ByteCursor(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  size_t position() const { return position_; }
  size_t remaining() const { return bytes_.size() - position_; }

  template <typename T>
  requires std::is_trivially_copyable_v<T> T Read() {
    T value{};
    const auto bytes = Take(sizeof(T));
    if (ok_) std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }

  // The next `count` bytes; empty when there are fewer.
  std::span<const std::byte> Take(uint64_t count) {
    if (!ok_ || count > remaining()) {
      ok_ = false;
      return {};
    }
    const auto taken = bytes_.subspan(position_, count);
    position_ += count;
    return taken;
  }

  // A 64-bit length and that many bytes.
  std::string_view ReadString() {
    const auto bytes = Take(Read<uint64_t>());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  std::span<const std::byte> Since(size_t start) const { return bytes_.subspan(start, position_ - start); }

 private:
  std::span<const std::byte> bytes_;
  size_t position_ = 0;
  bool ok_ = true;
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_MODEL_BYTE_CURSOR_H_
