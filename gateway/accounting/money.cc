#include "gateway/accounting/money.h"

#include <algorithm>
#include <charconv>

#include "fmt/format.h"

namespace headstart {
namespace {

constexpr int64_t kNanosPerUnit = 1'000'000'000;
constexpr size_t kDecimals = 9;
constexpr size_t kShownDecimals = 2;
constexpr size_t kQuotedBytes = 40;

absl::Status NotADecimal(std::string_view text, std::string_view why) {
  return absl::InvalidArgumentError(fmt::format("\"{}\" {}", text.substr(0, kQuotedBytes), why));
}

bool IsDigits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// REQUIRES: IsDigits(digits). False when it does not fit.
bool ToNumber(std::string_view digits, int64_t& number) {
  return std::from_chars(digits.data(), digits.data() + digits.size(), number).ec == std::errc();
}

}  // namespace

absl::StatusOr<int64_t> ParseNanos(std::string_view text) {
  const size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  std::string decimals(point == std::string_view::npos ? "0" : text.substr(point + 1));
  if (!IsDigits(whole) || !IsDigits(decimals)) {
    return NotADecimal(text, "is no amount; write a decimal number of at least 0, such as 0.25");
  }
  if (decimals.size() > kDecimals) return NotADecimal(text, "has more than nine decimals; there is no smaller amount");
  decimals.append(kDecimals - decimals.size(), '0');
  int64_t units = 0;
  int64_t nanos = 0;
  int64_t total = 0;
  if (!ToNumber(whole, units) || !ToNumber(decimals, nanos) || __builtin_mul_overflow(units, kNanosPerUnit, &total) ||
      __builtin_add_overflow(total, nanos, &total)) {
    return NotADecimal(text, "is too large; amounts end at 9223372036.854775807");
  }
  return total;
}

std::string FormatNanos(int64_t nanos) {
  // The magnitude of the lowest number has no signed counterpart.
  const uint64_t magnitude = nanos < 0 ? 0 - static_cast<uint64_t>(nanos) : static_cast<uint64_t>(nanos);
  std::string text =
      fmt::format("{}{}.{:09}", nanos < 0 ? "-" : "", magnitude / kNanosPerUnit, magnitude % kNanosPerUnit);
  const size_t shortest = text.find('.') + 1 + kShownDecimals;
  const size_t last_digit = text.find_last_not_of('0');
  text.resize(std::max(shortest, last_digit + 1));
  return text;
}

}  // namespace headstart
