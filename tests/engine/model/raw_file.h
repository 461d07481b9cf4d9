// RawFile: bytes of a model file put together value by value, so that a test can make every mistake.
//
//   RawFile().Text("GGUF").U32(3).U64(0).U64(1).String("key") ...

#ifndef HEADSTART_TESTS_ENGINE_MODEL_RAW_FILE_H_
#define HEADSTART_TESTS_ENGINE_MODEL_RAW_FILE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace headstart {

class RawFile {
 public:
  RawFile& Text(std::string_view text) { return bytes_.append(text), *this; }
  RawFile& U8(uint8_t value) { return Append(value); }
  RawFile& U32(uint32_t value) { return Append(value); }
  RawFile& U64(uint64_t value) { return Append(value); }
  RawFile& F32(float value) { return Append(value); }
  RawFile& String(std::string_view text) { return U64(text.size()).Text(text); }
  RawFile& Zeros(size_t count) { return bytes_.append(count, '\0'), *this; }

  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(bytes_)); }

 private:
  template <typename T>
  RawFile& Append(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    return *this;
  }

  std::string bytes_;
};

}  // namespace headstart

#endif  // HEADSTART_TESTS_ENGINE_MODEL_RAW_FILE_H_
