// Filters on numbers.

#include <array>
#include <charconv>
#include <cmath>

#include "engine/text/template/context.h"
#include "engine/text/template/filters.h"
#include "engine/text/template/number_format.h"
#include "engine/text/template/operators.h"
#include "engine/text/template/repr.h"
#include "engine/text/template/template_error.h"
#include "engine/text/template/text_operations.h"
#include "fmt/format.h"

namespace headstart::jinja {
namespace {

constexpr double kLargestInt = 1e38;  // below 2^127

// Digits with single underscores between them, without these; nothing for anything else.
std::optional<std::string> PlainDigits(std::string_view text, std::string_view allowed) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool between = i > 0 && i + 1 < text.size() && text[i - 1] != '_' && text[i + 1] != '_';
    if (text[i] == '_' && between) continue;
    if (allowed.find(text[i]) == std::string_view::npos) return std::nullopt;
    out.push_back(text[i]);
  }
  return out.empty() ? std::nullopt : std::optional(out);
}

std::string_view Stripped(const Text& text) {
  constexpr std::string_view kSpace = " \t\n\r\f\v";
  std::string_view bytes = text.bytes();
  bytes.remove_prefix(std::min(bytes.find_first_not_of(kSpace), bytes.size()));
  return bytes.substr(0, bytes.find_last_not_of(kSpace) + 1);
}

// As Python's int(text, base).
std::optional<Int> ParseInt(const Text& text, int base) {
  std::string_view digits = Stripped(text);
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  const char prefix = base == 16 ? 'x' : (base == 8 ? 'o' : (base == 2 ? 'b' : '\0'));
  if (prefix != '\0' && digits.size() > 2 && digits[0] == '0' && (digits[1] | 0x20) == prefix) digits.remove_prefix(2);
  const auto plain = PlainDigits(digits, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
  if (!plain) return std::nullopt;
  Int value = 0;
  for (char c : *plain) {
    const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
    if (digit >= base) return std::nullopt;
    if (__builtin_mul_overflow(value, Int{base}, &value) || __builtin_add_overflow(value, Int{digit}, &value)) {
      Fail("an integer leaves the range of 128 bits");
    }
  }
  return negative ? -value : value;
}

// As Python's float(text).
std::optional<double> ParseFloat(const Text& text) {
  std::string_view bytes = Stripped(text);
  const auto plain = PlainDigits(bytes, "0123456789.eE+-infatyINFATY");
  if (!plain) return std::nullopt;
  const std::string number = plain->starts_with('+') ? plain->substr(1) : *plain;
  if (number.starts_with('+') || plain->starts_with("+-")) return std::nullopt;
  double value = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), value);
  if (read.ptr != number.data() + number.size()) return std::nullopt;
  if (read.ec == std::errc::result_out_of_range) return std::strtod(number.c_str(), nullptr);
  return read.ec == std::errc() ? std::optional(value) : std::nullopt;
}

std::optional<Value> TruncateFloat(double value) {
  if (std::isnan(value)) return std::nullopt;
  if (std::isinf(value)) Fail("cannot convert float infinity to integer");
  if (std::abs(value) > kLargestInt) Fail("an integer leaves the range of 128 bits");
  return Value(static_cast<Int>(value));
}

std::optional<Value> ToInt(const Value& input, int base) {
  if (input.is_integral()) return Value(input.as_int());
  if (input.is(Value::Kind::kFloat)) return TruncateFloat(input.as_float());
  if (!input.is_string()) return std::nullopt;
  if (const auto whole = ParseInt(input.as_text(), base)) return Value(*whole);
  const auto real = ParseFloat(input.as_text());
  return real ? TruncateFloat(*real) : std::nullopt;
}

Value IntFilter(Context& context, const Value& input, const Arguments& arguments) {
  const auto bound = Bind(arguments, "int", {"default", "base"});
  if (input.is_undefined()) Fail(input.undefined_message());
  if (input.is_string()) context.ChargeBytes(input.as_text().size());
  const Int base = bound.GetInt(1, 10);
  if (base < 2 || base > 36) Fail("int() base must be >= 2 and <= 36");
  const auto result = ToInt(input, static_cast<int>(base));
  return result ? *result : bound.Get(0, Value(Int{0}));
}

Value FloatFilter(Context& context, const Value& input, const Arguments& arguments) {
  const auto bound = Bind(arguments, "float", {"default"});
  if (input.is_undefined()) Fail(input.undefined_message());
  if (input.is_number()) return Value(input.as_float());
  if (input.is_string()) {
    context.ChargeBytes(input.as_text().size());
    if (const auto value = ParseFloat(input.as_text())) return Value(*value);
  }
  return bound.Get(0, Value(0.0));
}

Value Abs(Context&, const Value& input, const Arguments& arguments) {
  Bind(arguments, "abs", {});
  if (input.is(Value::Kind::kFloat)) return Value(std::abs(input.as_float()));
  if (input.is_integral()) return input.as_int() < 0 ? Negate(input) : Plus(input);
  if (input.is_undefined()) Fail(input.undefined_message());
  Fail(fmt::format("bad operand type for abs(): '{}'", TypeName(input)));
}

// Python rounds the exact decimal value half to even, which is what printf does too.
double RoundTo(double value, int digits) {
  if (!std::isfinite(value) || digits > 300) return value;
  if (digits >= 0) return std::strtod(FormatReal(value, 'f', std::min(digits, kMaxPrecision)).c_str(), nullptr);
  const double scale = std::pow(10.0, -digits);
  return std::isfinite(scale) ? std::nearbyint(value / scale) * scale : 0.0;
}

Value RoundInt(Int value, int digits) {
  if (digits >= 0) return Value(value);
  Int scale = 1;
  for (int i = 0; i < -digits; ++i) {
    if (__builtin_mul_overflow(scale, Int{10}, &scale)) return Value(Int{0});
  }
  const Int half = scale / 2;
  Int rest = value % scale;
  if (rest < 0) rest += scale;
  const Int down = value - rest;
  const bool odd = (down / scale) % 2 != 0;
  return Value(rest > half || (rest == half && odd) ? down + scale : down);
}

Value Round(Context&, const Value& input, const Arguments& arguments) {
  const auto bound = Bind(arguments, "round", {"precision", "method"});
  const Text method = bound.GetText(1, "common");
  const int digits = static_cast<int>(std::clamp<Int>(bound.GetInt(0, 0), -400, 400));
  if (input.is_undefined()) Fail(input.undefined_message());
  if (!input.is_number()) Fail(fmt::format("type {} doesn't define __round__ method", TypeName(input)));
  if (method.bytes() == "common") {
    return input.is_integral() ? RoundInt(input.as_int(), digits) : Value(RoundTo(input.as_float(), digits));
  }
  const double scale = std::pow(10.0, digits);
  if (method.bytes() == "ceil") return Value(std::ceil(input.as_float() * scale) / scale);
  if (method.bytes() == "floor") return Value(std::floor(input.as_float() * scale) / scale);
  Fail("method must be common, ceil or floor");
}

Value FileSizeFormat(Context& context, const Value& input, const Arguments& arguments) {
  const auto bound = Bind(arguments, "filesizeformat", {"binary"});
  const Value number = FloatFilter(context, input, {});
  const bool binary = bound.GetBool(0, false);
  const double base = binary ? 1024 : 1000;
  const double bytes = number.as_float();
  if (bytes == 1) return Value::MakeString("1 Byte");
  if (!(bytes >= base)) return Value::MakeString(fmt::format("{:.0f} Bytes", std::trunc(bytes)));
  constexpr std::string_view kPrefixes = "kMGTPEZY";
  double unit = base;
  size_t prefix = 0;
  while (bytes >= unit * base && prefix + 1 < kPrefixes.size()) unit *= base, ++prefix;
  const std::string name =
      binary ? fmt::format("{}iB", prefix == 0 ? 'K' : kPrefixes[prefix]) : fmt::format("{}B", kPrefixes[prefix]);
  return Value::MakeString(fmt::format("{} {}", FormatReal(bytes / unit, 'f', 1), name));
}

constexpr NamedFilter kFilters[] = {
    {"int", IntFilter}, {"float", FloatFilter}, {"abs", Abs}, {"round", Round}, {"filesizeformat", FileSizeFormat}};

}  // namespace

std::span<const NamedFilter> NumberFilters() { return kFilters; }

}  // namespace headstart::jinja
