#include "gateway/config/byte_size.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

#include "fmt/format.h"

namespace headstart {
namespace {

struct Unit {
  std::string_view name;
  int64_t bytes;
};

constexpr std::array<Unit, 10> kUnits = {{{"", 1},
                                          {"B", 1},
                                          {"KiB", 1LL << 10},
                                          {"MiB", 1LL << 20},
                                          {"GiB", 1LL << 30},
                                          {"TiB", 1LL << 40},
                                          {"KB", 1'000},
                                          {"MB", 1'000'000},
                                          {"GB", 1'000'000'000},
                                          {"TB", 1'000'000'000'000}}};
constexpr std::array<Unit, 5> kBinaryUnits = {
    {{"TiB", 1LL << 40}, {"GiB", 1LL << 30}, {"MiB", 1LL << 20}, {"KiB", 1LL << 10}, {"B", 1}}};

bool EqualIgnoringCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

absl::Status Bad(std::string_view text, std::string_view why) {
  return absl::InvalidArgumentError(fmt::format("\"{}\" {}; write a size such as 512MiB, 2GiB or 4096", text, why));
}

}  // namespace

absl::StatusOr<int64_t> ParseByteSize(std::string_view text) {
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(number) || number < 0) return Bad(text, "is not a size");
  std::string_view name(rest, text.data() + text.size() - rest);
  if (!name.empty() && name.front() == ' ') name.remove_prefix(1);
  const auto* unit = std::ranges::find_if(kUnits, [name](const Unit& u) { return EqualIgnoringCase(u.name, name); });
  if (unit == kUnits.end()) return Bad(text, fmt::format("has the unknown unit \"{}\"", name));
  const double bytes = number * static_cast<double>(unit->bytes);
  if (bytes >= static_cast<double>(std::numeric_limits<int64_t>::max())) return Bad(text, "is larger than any memory");
  if (unit->bytes == 1 && bytes != static_cast<double>(static_cast<int64_t>(bytes))) return Bad(text, "is not whole");
  return static_cast<int64_t>(bytes);
}

std::string FormatByteSize(int64_t bytes) {
  for (const Unit& unit : kBinaryUnits) {
    if (bytes != 0 && bytes % unit.bytes == 0) return fmt::format("{}{}", bytes / unit.bytes, unit.name);
  }
  return "0B";
}

std::string ReadableByteSize(int64_t bytes) {
  for (const Unit& unit : kBinaryUnits) {
    if (unit.bytes == 1 || bytes < unit.bytes) continue;
    return fmt::format("{:.1f} {}", static_cast<double>(bytes) / static_cast<double>(unit.bytes), unit.name);
  }
  return fmt::format("{} B", bytes);
}

}  // namespace headstart
