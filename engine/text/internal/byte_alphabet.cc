#include "engine/text/internal/byte_alphabet.h"

#include "engine/text/utf8.h"

namespace headstart {
namespace {

// Latin-1's visible characters stand for themselves.
constexpr bool IsVisible(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE && byte <= 0xFF);
}

}  // namespace

ByteAlphabet::ByteAlphabet() {
  bytes_.fill(-1);
  char32_t next_moved = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const char32_t letter = IsVisible(byte) ? static_cast<char32_t>(byte) : next_moved++;
    AppendUtf8(letter, letters_[byte]);
    bytes_[letter] = static_cast<int16_t>(byte);
  }
}

std::optional<std::string> ByteAlphabet::Bytes(std::string_view spelled) const {
  std::string bytes;
  while (!spelled.empty()) {
    if (ReadUtf8Unit(spelled).kind != Utf8Unit::Kind::kCodePoint) return std::nullopt;
    const char32_t letter = FirstCodePoint(spelled);
    if (letter >= kLetters || bytes_[letter] < 0) return std::nullopt;
    bytes += static_cast<char>(bytes_[letter]);
    spelled.remove_prefix(CodePointSize(spelled[0]));
  }
  return bytes;
}

}  // namespace headstart
