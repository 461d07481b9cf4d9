// Code points: what Python's str counts, slices and changes the case of. Bytes that are not UTF-8 count as one code
// point each and pass through unchanged. Properties and mappings are ICU's; where its Unicode is another version than
// that of the Python that a template was written with, they differ in the characters added in between.
//
// Thread-safety: pure functions.

#ifndef HEADSTART_ENGINE_TEXT_TEMPLATE_UNICODE_H_
#define HEADSTART_ENGINE_TEXT_TEMPLATE_UNICODE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headstart::jinja {

struct CodePoint {
  char32_t value = 0;  // kInvalidByte + byte for a byte that is not UTF-8
  size_t size = 0;     // bytes it takes
};

inline constexpr char32_t kInvalidByte = 0x110000;

// The code point at `offset`, which must be inside.
CodePoint DecodeAt(std::string_view bytes, size_t offset);
void AppendUtf8(char32_t value, std::string& out);

size_t CountCodePoints(std::string_view bytes);

// The byte offset of each code point, and of the end.
std::vector<size_t> CodePointOffsets(std::string_view bytes);

// As Python's str.isspace, isalpha, isdecimal, isupper and islower of one code point.
bool IsSpace(char32_t c);
bool IsAlpha(char32_t c);
bool IsDecimal(char32_t c);
bool IsUpper(char32_t c);
bool IsLower(char32_t c);

// Full case mappings, which may give more than one code point ("ß" becomes "SS").
void AppendUpper(char32_t c, std::string& out);
void AppendLower(char32_t c, std::string& out);
void AppendTitle(char32_t c, std::string& out);

}  // namespace headstart::jinja

#endif  // HEADSTART_ENGINE_TEXT_TEMPLATE_UNICODE_H_
