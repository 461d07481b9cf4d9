#include "engine/text/template/number_format.h"

#include <array>
#include <cstdio>
#include <string_view>

#include "engine/text/template/repr.h"

namespace headstart::jinja {

std::string FormatReal(double value, char kind, int precision) {
  if (kind == '%') return FormatReal(value * 100, 'f', precision) + "%";
  const std::array<char, 5> format = {'%', '.', '*', kind, '\0'};
  std::array<char, 512> buffer;  // a double has at most 309 digits before its point
  const int size = std::snprintf(buffer.data(), buffer.size(), format.data(), precision, value);
  return std::string(buffer.data(), static_cast<size_t>(size));
}

std::string FormatInteger(Int value, char kind) {
  int base = 10;
  if (kind == 'x' || kind == 'X') base = 16;
  if (kind == 'o') base = 8;
  if (kind == 'b') base = 2;
  if (base == 10) return FormatInt(value);
  __extension__ using Unsigned = unsigned __int128;
  Unsigned rest = value < 0 ? -static_cast<Unsigned>(value) : static_cast<Unsigned>(value);
  const std::string_view alphabet = kind == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
  std::string digits;
  do {
    digits.insert(digits.begin(), alphabet[static_cast<size_t>(rest % static_cast<unsigned>(base))]);
    rest /= static_cast<unsigned>(base);
  } while (rest != 0);
  return (value < 0 ? "-" : "") + digits;
}

std::string WithSign(std::string number, char sign) {
  if (sign != '\0' && !number.starts_with('-')) number.insert(number.begin(), sign);
  return number;
}

}  // namespace headstart::jinja
