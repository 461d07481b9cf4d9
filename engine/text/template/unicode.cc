#include "engine/text/template/unicode.h"

#include <algorithm>

#include "engine/text/template/unicode_tables.h"

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

const SteppedRange* FindRange(std::span<const SteppedRange> ranges, char32_t c) {
  auto after = std::upper_bound(ranges.begin(), ranges.end(), c,
                                [](char32_t value, const SteppedRange& r) { return value < r.first; });
  if (after == ranges.begin()) return nullptr;
  const SteppedRange& range = *--after;
  return c <= range.last && (c - range.first) % static_cast<char32_t>(range.step) == 0 ? &range : nullptr;
}

bool AppendSpecial(std::span<const SpecialMapping> mappings, char32_t c, std::string& out) {
  auto found = std::lower_bound(mappings.begin(), mappings.end(), c,
                                [](const SpecialMapping& m, char32_t value) { return m.from < value; });
  if (found == mappings.end() || found->from != c) return false;
  for (char32_t to : found->to) {
    if (to != 0) AppendUtf8(to, out);
  }
  return true;
}

void AppendMapped(std::span<const SteppedRange> ranges, std::span<const SpecialMapping> specials, char32_t c,
                  std::string& out) {
  if (c >= 0x80 && AppendSpecial(specials, c, out)) return;
  const SteppedRange* range = FindRange(ranges, c);
  AppendUtf8(range == nullptr ? c : static_cast<char32_t>(static_cast<int32_t>(c) + range->delta), out);
}

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

bool IsAlpha(char32_t c) { return FindRange(Tables().is_alpha, c) != nullptr; }
bool IsDecimal(char32_t c) { return FindRange(Tables().is_decimal, c) != nullptr; }
bool IsUpper(char32_t c) { return FindRange(Tables().is_upper, c) != nullptr; }
bool IsLower(char32_t c) { return FindRange(Tables().is_lower, c) != nullptr; }

void AppendUpper(char32_t c, std::string& out) { AppendMapped(Tables().upper, Tables().upper_special, c, out); }
void AppendLower(char32_t c, std::string& out) { AppendMapped(Tables().lower, Tables().lower_special, c, out); }

void AppendTitle(char32_t c, std::string& out) {
  if (!AppendSpecial(Tables().title_special, c, out)) AppendUpper(c, out);
}

}  // namespace headstart::jinja
