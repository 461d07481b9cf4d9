// UTF-8: checking, repairing and reading code points. Invalid input is repaired as WHATWG's decoder, Rust's
// from_utf8_lossy and JavaScript do it: each maximal part that could have begun a code point becomes one U+FFFD.
//
// Thread-safety: pure functions.

#ifndef HEADSTART_ENGINE_TEXT_UTF8_H_
#define HEADSTART_ENGINE_TEXT_UTF8_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace headstart {

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";  // U+FFFD

// What the bytes at the start of a text are.
struct Utf8Unit {
  enum class Kind {
    kCodePoint,   // `size` bytes that are one code point
    kInvalid,     // `size` bytes, at least one, that stand for one U+FFFD
    kIncomplete,  // `size` bytes, all there are, that could become a code point if more came
  };
  Kind kind = Kind::kCodePoint;
  size_t size = 0;
};

// REQUIRES: text is not empty.
Utf8Unit ReadUtf8Unit(std::string_view text);

// The length of the longest prefix that is valid UTF-8.
size_t ValidUtf8Prefix(std::string_view text);

inline bool IsValidUtf8(std::string_view text) { return ValidUtf8Prefix(text) == text.size(); }

// The text with whatever is not UTF-8 as U+FFFD.
std::string RepairUtf8(std::string_view text);

// The first code point. REQUIRES: text is valid UTF-8 and not empty.
char32_t FirstCodePoint(std::string_view text);

// The last code point. REQUIRES: text is valid UTF-8 and not empty.
char32_t LastCodePoint(std::string_view text);

// Bytes of the code point that this byte begins. REQUIRES: it begins one.
constexpr size_t CodePointSize(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

constexpr bool IsContinuationByte(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// Appends a code point. REQUIRES: it is a Unicode scalar value.
void AppendUtf8(char32_t code_point, std::string& out);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_TEXT_UTF8_H_
