#include "engine/text/template/unicode.h"

#include <array>
#include <cassert>

#include "unicode/casemap.h"
#include "unicode/uchar.h"
#include "unicode/utf16.h"

namespace headstart::jinja {
namespace {

// How many bytes a lead byte asks for; 0 for one that cannot lead.
size_t LengthOf(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  return lead >= 0xF0 && lead < 0xF5 ? 4 : 0;
}

bool IsScalar(char32_t value, size_t size) {
  if (size == 3) return value >= 0x800 && (value < 0xD800 || value > 0xDFFF);
  return size != 4 || (value >= 0x10000 && value <= 0x10FFFF);
}

// The longest full case mapping is three UTF-16 units ("ΐ" in upper case).
using CasedUnits = std::array<char16_t, 8>;

// `map` is one of ICU's, from a code point's UTF-16 units to those of its mapping.
template <typename Map>
void AppendMapped(char32_t c, Map map, std::string& out) {
  if (c >= kInvalidByte) return AppendUtf8(c, out);
  std::array<char16_t, 2> from;
  int32_t from_size = 0;
  U16_APPEND_UNSAFE(from.data(), from_size, c);
  CasedUnits to;
  UErrorCode error = U_ZERO_ERROR;
  const int32_t to_size = map(from.data(), from_size, to, error);
  assert(U_SUCCESS(error));
  for (int32_t i = 0; i < to_size;) {
    char32_t mapped = 0;
    U16_NEXT_UNSAFE(to.data(), i, mapped);
    AppendUtf8(mapped, out);
  }
}

// ICU takes code points as signed; beyond Unicode it knows none.
UChar32 Signed(char32_t c) { return static_cast<UChar32>(c); }

constexpr char kRootLocale[] = "";

}  // namespace

CodePoint DecodeAt(std::string_view bytes, size_t offset) {
  const auto lead = static_cast<unsigned char>(bytes[offset]);
  if (lead < 0x80) return {lead, 1};
  const CodePoint invalid = {kInvalidByte + lead, 1};
  const size_t size = LengthOf(lead);
  if (size == 0 || bytes.size() - offset < size) return invalid;
  char32_t value = lead & (0x7Fu >> size);
  for (size_t i = 1; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[offset + i]);
    if ((byte & 0xC0) != 0x80) return invalid;
    value = value << 6 | (byte & 0x3F);
  }
  return IsScalar(value, size) ? CodePoint{value, size} : invalid;
}

void AppendUtf8(char32_t value, std::string& out) {
  const auto tail = [&](int shift) { out.push_back(static_cast<char>(0x80 | (value >> shift & 0x3F))); };
  if (value >= kInvalidByte) {
    out.push_back(static_cast<char>(value - kInvalidByte));
  } else if (value < 0x80) {
    out.push_back(static_cast<char>(value));
  } else if (value < 0x800) {
    out.push_back(static_cast<char>(0xC0 | value >> 6));
    tail(0);
  } else if (value < 0x10000) {
    out.push_back(static_cast<char>(0xE0 | value >> 12));
    tail(6), tail(0);
  } else {
    out.push_back(static_cast<char>(0xF0 | value >> 18));
    tail(12), tail(6), tail(0);
  }
}

size_t CountCodePoints(std::string_view bytes) {
  size_t count = 0;
  for (size_t i = 0; i < bytes.size(); i += DecodeAt(bytes, i).size) ++count;
  return count;
}

std::vector<size_t> CodePointOffsets(std::string_view bytes) {
  std::vector<size_t> offsets;
  offsets.reserve(bytes.size() + 1);
  for (size_t i = 0; i < bytes.size(); i += DecodeAt(bytes, i).size) offsets.push_back(i);
  offsets.push_back(bytes.size());
  return offsets;
}

bool IsSpace(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

bool IsAlpha(char32_t c) { return u_isalpha(Signed(c)); }
bool IsDecimal(char32_t c) { return u_isdigit(Signed(c)); }
bool IsUpper(char32_t c) { return u_isUUppercase(Signed(c)); }
bool IsLower(char32_t c) { return u_isULowercase(Signed(c)); }

void AppendUpper(char32_t c, std::string& out) {
  const auto map = [](const char16_t* from, int32_t size, CasedUnits& to, UErrorCode& error) {
    return icu::CaseMap::toUpper(kRootLocale, 0, from, size, to.data(), to.size(), nullptr, error);
  };
  AppendMapped(c, map, out);
}

void AppendLower(char32_t c, std::string& out) {
  const auto map = [](const char16_t* from, int32_t size, CasedUnits& to, UErrorCode& error) {
    return icu::CaseMap::toLower(kRootLocale, 0, from, size, to.data(), to.size(), nullptr, error);
  };
  AppendMapped(c, map, out);
}

void AppendTitle(char32_t c, std::string& out) {
  const auto map = [](const char16_t* from, int32_t size, CasedUnits& to, UErrorCode& error) {
    constexpr uint32_t kOptions = U_TITLECASE_WHOLE_STRING | U_TITLECASE_NO_BREAK_ADJUSTMENT | U_TITLECASE_NO_LOWERCASE;
    return icu::CaseMap::toTitle(kRootLocale, kOptions, nullptr, from, size, to.data(), to.size(), nullptr, error);
  };
  AppendMapped(c, map, out);
}

}  // namespace headstart::jinja
