#include "engine/text/template/type_tests.h"

#include <algorithm>

#include "engine/text/template/context.h"
#include "engine/text/template/expression.h"
#include "engine/text/template/filters.h"
#include "engine/text/template/object.h"
#include "engine/text/template/operators.h"
#include "engine/text/template/repr.h"
#include "engine/text/template/template_error.h"
#include "engine/text/template/text_operations.h"

namespace headstart::jinja {
namespace {

// Tests that look at the value alone.
template <bool (*Holds)(const Value&)>
bool Simple(Context&, const Value& value, const Arguments& arguments) {
  Bind(arguments, "test", {});
  return Holds(value);
}

bool IsDefined(const Value& v) { return !v.is_undefined(); }
bool IsUndefined(const Value& v) { return v.is_undefined(); }
bool IsNone(const Value& v) { return v.is_none(); }
bool IsBoolean(const Value& v) { return v.is_bool(); }
bool IsTrueItself(const Value& v) { return v.is_bool() && v.as_bool(); }
bool IsFalseItself(const Value& v) { return v.is_bool() && !v.as_bool(); }
bool IsInteger(const Value& v) { return v.is(Value::Kind::kInt); }
bool IsFloat(const Value& v) { return v.is(Value::Kind::kFloat); }
bool IsNumber(const Value& v) { return v.is_number(); }
bool IsString(const Value& v) { return v.is_string(); }
bool IsMapping(const Value& v) { return v.is_dict(); }
bool IsEscaped(const Value&) { return false; }
// Undefined values can be called too, if only to say so.
bool IsCallable(const Value& v) {
  return v.is_undefined() || (v.is(Value::Kind::kObject) && v.as_object()->is_callable());
}
// An undefined value has a length, and fails only when an element is asked for.
bool IsSequence(const Value& v) {
  return v.is_undefined() || v.is_string() || v.is_dict() ||
         (v.is(Value::Kind::kSequence) && v.as_sequence().has_index());
}

template <CaseMapping mapping>
bool IsCase(Context& context, const Value& value, const Arguments& arguments) {
  Bind(arguments, "test", {});
  return IsAllOfCase(context, ToText(context, value), mapping);
}

bool Modulo(Context& context, const Value& value, const Value& divisor, Int rest) {
  const Value result = Arithmetic(context, ArithmeticOp::kModulo, value, divisor);
  return Equals(result, Value(rest));
}

bool IsOdd(Context& context, const Value& value, const Arguments&) { return Modulo(context, value, Value(Int{2}), 1); }
bool IsEven(Context& context, const Value& value, const Arguments&) { return Modulo(context, value, Value(Int{2}), 0); }

bool IsDivisibleBy(Context& context, const Value& value, const Arguments& arguments) {
  return Modulo(context, value, Bind(arguments, "divisibleby", {"num"}).Require(0), 0);
}

template <CompareOp op>
bool Compares(Context& context, const Value& value, const Arguments& arguments) {
  return Compare(context, op, value, Bind(arguments, "test", {"other"}).Require(0));
}

bool IsSameAs(Context& context, const Value& value, const Arguments& arguments) {
  const auto bound = Bind(arguments, "sameas", {"other"});
  ChargeComparison(context, value, bound.Require(0));
  return value.SameAs(bound.Require(0));
}

bool IsFilterName(const Value& v) { return v.is_string() && FindFilter(v.as_text().bytes()) != nullptr; }
bool IsTestName(const Value& v) { return v.is_string() && FindTest(v.as_text().bytes()) != nullptr; }

struct NamedTest {
  std::string_view name;
  Test test;
};

constexpr NamedTest kTests[] = {{"defined", Simple<IsDefined>},
                                {"undefined", Simple<IsUndefined>},
                                {"none", Simple<IsNone>},
                                {"boolean", Simple<IsBoolean>},
                                {"true", Simple<IsTrueItself>},
                                {"false", Simple<IsFalseItself>},
                                {"integer", Simple<IsInteger>},
                                {"float", Simple<IsFloat>},
                                {"number", Simple<IsNumber>},
                                {"string", Simple<IsString>},
                                {"mapping", Simple<IsMapping>},
                                {"iterable", Simple<IsIterable>},
                                {"sequence", Simple<IsSequence>},
                                {"callable", Simple<IsCallable>},
                                {"escaped", Simple<IsEscaped>},
                                {"filter", Simple<IsFilterName>},
                                {"test", Simple<IsTestName>},
                                {"lower", IsCase<CaseMapping::kLower>},
                                {"upper", IsCase<CaseMapping::kUpper>},
                                {"odd", IsOdd},
                                {"even", IsEven},
                                {"divisibleby", IsDivisibleBy},
                                {"sameas", IsSameAs},
                                {"in", Compares<CompareOp::kIn>},
                                {"==", Compares<CompareOp::kEqual>},
                                {"eq", Compares<CompareOp::kEqual>},
                                {"equalto", Compares<CompareOp::kEqual>},
                                {"!=", Compares<CompareOp::kNotEqual>},
                                {"ne", Compares<CompareOp::kNotEqual>},
                                {">", Compares<CompareOp::kGreater>},
                                {"gt", Compares<CompareOp::kGreater>},
                                {"greaterthan", Compares<CompareOp::kGreater>},
                                {">=", Compares<CompareOp::kGreaterEqual>},
                                {"ge", Compares<CompareOp::kGreaterEqual>},
                                {"<", Compares<CompareOp::kLess>},
                                {"lt", Compares<CompareOp::kLess>},
                                {"lessthan", Compares<CompareOp::kLess>},
                                {"<=", Compares<CompareOp::kLessEqual>},
                                {"le", Compares<CompareOp::kLessEqual>}};

}  // namespace

Test FindTest(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kTests), std::end(kTests), [&](const NamedTest& t) { return t.name == name; });
  return found == std::end(kTests) ? nullptr : found->test;
}

}  // namespace headstart::jinja
