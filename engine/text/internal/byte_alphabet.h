// GPT-2's byte alphabet: byte-level vocabularies spell each byte as one printable character, a space as "Ġ" for
// instance.
//
// Thread-safety: immutable after construction.

#ifndef HEADSTART_ENGINE_TEXT_INTERNAL_BYTE_ALPHABET_H_
#define HEADSTART_ENGINE_TEXT_INTERNAL_BYTE_ALPHABET_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headstart {

class ByteAlphabet {
 public:
  ByteAlphabet();

  // How the vocabulary spells this byte.
  const std::string& Spell(uint8_t byte) const { return letters_[byte]; }

  // The bytes behind a vocabulary entry; none if it has a character that is not of the alphabet.
  std::optional<std::string> Bytes(std::string_view spelled) const;

 private:
  static constexpr int kLetters =
      0x144;  // letters are code points below this: 256 bytes, 68 of them moved to 0x100 and up

  std::array<std::string, 256> letters_;
  std::array<int16_t, kLetters> bytes_;  // by code point; -1 where it is no letter
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_TEXT_INTERNAL_BYTE_ALPHABET_H_
