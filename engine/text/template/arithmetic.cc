// Arithmetic of operators.h.

#include <cmath>

#include "engine/text/template/context.h"
#include "engine/text/template/operators.h"
#include "engine/text/template/percent_format.h"
#include "engine/text/template/repr.h"
#include "engine/text/template/template_error.h"
#include "fmt/format.h"

namespace headstart::jinja {
namespace {

[[noreturn]] void FailOverflow() { Fail("an integer leaves the range of 128 bits"); }

std::string_view SymbolOf(ArithmeticOp op) {
  switch (op) {
    case ArithmeticOp::kAdd:
      return "+";
    case ArithmeticOp::kSubtract:
      return "-";
    case ArithmeticOp::kMultiply:
      return "*";
    case ArithmeticOp::kDivide:
      return "/";
    case ArithmeticOp::kFloorDivide:
      return "//";
    case ArithmeticOp::kModulo:
      return "%";
    case ArithmeticOp::kPower:
      break;
  }
  return "** or pow()";
}

Int FloorDivide(Int a, Int b) {
  if (b == 0) Fail("integer division or modulo by zero");
  if (b == -1) {
    Int negated;
    if (__builtin_sub_overflow(Int{0}, a, &negated)) FailOverflow();
    return negated;
  }
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

Int Modulo(Int a, Int b) {
  if (b == 0) Fail("integer modulo by zero");
  if (b == -1) return 0;
  const Int rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

Int Power(Int base, Int exponent) {
  Int result = 1;
  while (true) {
    if (exponent & 1 && __builtin_mul_overflow(result, base, &result)) FailOverflow();
    exponent >>= 1;
    if (exponent == 0) return result;
    if (__builtin_mul_overflow(base, base, &base)) FailOverflow();
  }
}

double FloatModulo(double a, double b) {
  if (b == 0) Fail("float modulo");
  const double rest = std::fmod(a, b);
  if (rest != 0 && (rest < 0) != (b < 0)) return rest + b;
  return rest == 0 ? std::copysign(0.0, b) : rest;
}

double FloatPower(double a, double b) {
  if (a == 0 && b < 0) Fail("0.0 cannot be raised to a negative power");
  const double result = std::pow(a, b);
  if (std::isinf(result) && std::isfinite(a) && std::isfinite(b)) Fail("(34, 'Numerical result out of range')");
  return result;
}

double FloatArithmetic(ArithmeticOp op, double a, double b) {
  switch (op) {
    case ArithmeticOp::kAdd:
      return a + b;
    case ArithmeticOp::kSubtract:
      return a - b;
    case ArithmeticOp::kMultiply:
      return a * b;
    case ArithmeticOp::kDivide:
      if (b == 0) Fail("division by zero");
      return a / b;
    case ArithmeticOp::kFloorDivide:
      if (b == 0) Fail("float floor division by zero");
      return std::floor(a / b);
    case ArithmeticOp::kModulo:
      return FloatModulo(a, b);
    case ArithmeticOp::kPower:
      break;
  }
  return FloatPower(a, b);
}

Value IntArithmetic(ArithmeticOp op, Int a, Int b) {
  Int result = 0;
  bool overflow = false;
  switch (op) {
    case ArithmeticOp::kAdd:
      overflow = __builtin_add_overflow(a, b, &result);
      break;
    case ArithmeticOp::kSubtract:
      overflow = __builtin_sub_overflow(a, b, &result);
      break;
    case ArithmeticOp::kMultiply:
      overflow = __builtin_mul_overflow(a, b, &result);
      break;
    case ArithmeticOp::kFloorDivide:
      return Value(FloorDivide(a, b));
    case ArithmeticOp::kModulo:
      return Value(Modulo(a, b));
    case ArithmeticOp::kDivide:
      return Value(FloatArithmetic(op, static_cast<double>(a), static_cast<double>(b)));
    case ArithmeticOp::kPower:
      if (b < 0) return Value(FloatPower(static_cast<double>(a), static_cast<double>(b)));
      return Value(Power(a, b));
  }
  if (overflow) FailOverflow();
  return Value(result);
}

// `times` as a size, after checking that `size` of anything fits that often.
size_t CheckedTimes(Context& context, size_t size, Int times) {
  if (times <= 0 || size == 0) return 0;
  if (times > static_cast<Int>(context.max_bytes() / size)) context.ChargeBytes(context.max_bytes() + 1);
  return static_cast<size_t>(times);
}

Value RepeatText(Context& context, const Text& text, Int times) {
  const size_t count = CheckedTimes(context, text.size(), times);
  context.ChargeBytes(text.size() * count);
  TextBuilder builder;
  for (size_t i = 0; i < count; ++i) builder.Append(text);
  return Value(builder.Take());
}

Value RepeatItems(Context& context, const Sequence& sequence, Int times) {
  const size_t count = CheckedTimes(context, sequence.items().size(), times);
  context.ChargeItems(sequence.items().size() * count);
  List items;
  items.reserve(sequence.items().size() * count);
  for (size_t i = 0; i < count; ++i) items.insert(items.end(), sequence.items().begin(), sequence.items().end());
  return Value(std::make_shared<const Sequence>(sequence.flavor(), std::move(items)));
}

bool IsListOrTuple(const Value& value) {
  return value.is(Value::Kind::kSequence) && value.as_sequence().flavor() <= Sequence::Flavor::kTuple;
}

std::optional<Value> Repeat(Context& context, const Value& value, const Value& times) {
  if (!times.is_integral()) return std::nullopt;
  if (value.is_string()) return RepeatText(context, value.as_text(), times.as_int());
  if (IsListOrTuple(value)) return RepeatItems(context, value.as_sequence(), times.as_int());
  return std::nullopt;
}

std::optional<Value> Join(Context& context, const Value& a, const Value& b) {
  if (a.is_string() && b.is_string()) {
    context.ChargeBytes(a.as_text().size() + b.as_text().size());
    return Value(Concat(a.as_text(), b.as_text()));
  }
  if (!IsListOrTuple(a) || !IsListOrTuple(b) || a.as_sequence().flavor() != b.as_sequence().flavor())
    return std::nullopt;
  const List& first = a.as_sequence().items();
  const List& more = b.as_sequence().items();
  context.ChargeItems(first.size() + more.size());
  List items;
  items.reserve(first.size() + more.size());
  items.insert(items.end(), first.begin(), first.end());
  items.insert(items.end(), more.begin(), more.end());
  return Value(std::make_shared<const Sequence>(a.as_sequence().flavor(), std::move(items)));
}

std::optional<Value> NonNumeric(Context& context, ArithmeticOp op, const Value& a, const Value& b) {
  switch (op) {
    case ArithmeticOp::kAdd:
      return Join(context, a, b);
    case ArithmeticOp::kMultiply: {
      auto repeated = Repeat(context, a, b);
      return repeated ? repeated : Repeat(context, b, a);
    }
    case ArithmeticOp::kModulo:
      if (a.is_string()) return Value(PercentFormat(context, a.as_text(), b));
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

[[noreturn]] void FailTypes(ArithmeticOp op, const Value& a, const Value& b) {
  if (op == ArithmeticOp::kAdd && (a.is_string() || IsListOrTuple(a))) {
    Fail(fmt::format("can only concatenate {0} (not \"{1}\") to {0}", TypeName(a), TypeName(b)));
  }
  Fail(fmt::format("unsupported operand type(s) for {}: '{}' and '{}'", SymbolOf(op), TypeName(a), TypeName(b)));
}

}  // namespace

Value Arithmetic(Context& context, ArithmeticOp op, const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    if (a.is_integral() && b.is_integral()) return IntArithmetic(op, a.as_int(), b.as_int());
    return Value(FloatArithmetic(op, a.as_float(), b.as_float()));
  }
  const bool formats = op == ArithmeticOp::kModulo && a.is_string();
  if (a.is_undefined()) Fail(a.undefined_message());
  if (b.is_undefined() && !formats) Fail(b.undefined_message());
  auto result = NonNumeric(context, op, a, b);
  if (!result) FailTypes(op, a, b);
  return *std::move(result);
}

Value Negate(const Value& value) {
  if (value.is(Value::Kind::kFloat)) return Value(-value.as_float());
  if (value.is_integral()) return IntArithmetic(ArithmeticOp::kSubtract, 0, value.as_int());
  if (value.is_undefined()) Fail(value.undefined_message());
  Fail(fmt::format("bad operand type for unary -: '{}'", TypeName(value)));
}

Value Plus(const Value& value) {
  if (value.is(Value::Kind::kFloat)) return value;
  if (value.is_integral()) return Value(value.as_int());
  if (value.is_undefined()) Fail(value.undefined_message());
  Fail(fmt::format("bad operand type for unary +: '{}'", TypeName(value)));
}

}  // namespace headstart::jinja
