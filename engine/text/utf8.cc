#include "engine/text/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace headstart {
namespace {

// How a sequence may go on after its first byte (Unicode, table 3-7): the second byte's bounds exclude overlong forms,
// surrogates and what lies beyond U+10FFFF.
struct Lead {
  size_t size = 0;  // 0 for a byte that begins nothing
  uint8_t second_min = 0x80;
  uint8_t second_max = 0xBF;
};

Lead LeadOf(uint8_t byte) {
  if (byte < 0x80) return {1};
  if (byte < 0xC2) return {0};
  if (byte < 0xE0) return {2};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0};
}

// Bytes at the front that are ASCII, eight at a time.
size_t AsciiPrefix(std::string_view text) {
  size_t at = 0;
  for (uint64_t word = 0; at + sizeof(word) <= text.size(); at += sizeof(word)) {
    std::memcpy(&word, text.data() + at, sizeof(word));
    if ((word & 0x8080808080808080u) != 0) break;
  }
  while (at < text.size() && static_cast<uint8_t>(text[at]) < 0x80) ++at;
  return at;
}

}  // namespace

Utf8Unit ReadUtf8Unit(std::string_view text) {
  const Lead lead = LeadOf(static_cast<uint8_t>(text[0]));
  if (lead.size == 0) return {Utf8Unit::Kind::kInvalid, 1};
  for (size_t i = 1; i < lead.size; ++i) {
    if (i == text.size()) return {Utf8Unit::Kind::kIncomplete, i};
    const auto byte = static_cast<uint8_t>(text[i]);
    const bool fits = i == 1 ? byte >= lead.second_min && byte <= lead.second_max : IsContinuationByte(text[i]);
    if (!fits) return {Utf8Unit::Kind::kInvalid, i};
  }
  return {Utf8Unit::Kind::kCodePoint, lead.size};
}

size_t ValidUtf8Prefix(std::string_view text) {
  size_t at = AsciiPrefix(text);
  while (at < text.size()) {
    const Utf8Unit unit = ReadUtf8Unit(text.substr(at));
    if (unit.kind != Utf8Unit::Kind::kCodePoint) return at;
    at += unit.size;
    at += AsciiPrefix(text.substr(at));
  }
  return at;
}

std::string RepairUtf8(std::string_view text) {
  std::string repaired;
  repaired.reserve(text.size());
  while (!text.empty()) {
    const size_t valid = ValidUtf8Prefix(text);
    repaired.append(text.substr(0, valid));
    text.remove_prefix(valid);
    if (text.empty()) break;
    repaired.append(kReplacementCharacter);
    text.remove_prefix(ReadUtf8Unit(text).size);
  }
  return repaired;
}

char32_t FirstCodePoint(std::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  const size_t size = CodePointSize(text[0]);
  char32_t code_point = size == 1 ? lead : lead & (0x7Fu >> size);
  for (size_t i = 1; i < size; ++i) code_point = code_point << 6 | (static_cast<uint8_t>(text[i]) & 0x3Fu);
  return code_point;
}

char32_t LastCodePoint(std::string_view text) {
  size_t begin = text.size() - 1;
  while (begin > 0 && IsContinuationByte(text[begin])) --begin;
  return FirstCodePoint(text.substr(begin));
}

void AppendUtf8(char32_t code_point, std::string& out) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | (code_point >> shift & 0x3F)); };
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    out += {static_cast<char>(0xC0 | code_point >> 6), tail(0)};
  } else if (code_point < 0x10000) {
    out += {static_cast<char>(0xE0 | code_point >> 12), tail(6), tail(0)};
  } else {
    out += {static_cast<char>(0xF0 | code_point >> 18), tail(12), tail(6), tail(0)};
  }
}

}  // namespace headstart
