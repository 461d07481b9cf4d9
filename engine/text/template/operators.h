// Python's operators on values. What can grow without bound takes the Context, which holds the limits.
// Errors: TypeErrors and the like of Python fail with Python's words.

#ifndef HEADSTART_ENGINE_TEXT_TEMPLATE_OPERATORS_H_
#define HEADSTART_ENGINE_TEXT_TEMPLATE_OPERATORS_H_

#include <optional>
#include <string_view>

#include "engine/text/template/value.h"

namespace headstart::jinja {

class Context;

bool Equals(const Value& a, const Value& b);

// a < b. `symbol` is the operator that a message names.
bool LessThan(const Value& a, const Value& b, std::string_view symbol = "<");

// Charges for comparing the two, whose parts may be shared many times over. Equals and LessThan themselves are for
// values known to be small.
void ChargeComparison(Context& context, const Value& a, const Value& b);

bool Contains(Context& context, const Value& container, const Value& item);

enum class ArithmeticOp { kAdd, kSubtract, kMultiply, kDivide, kFloorDivide, kModulo, kPower };
Value Arithmetic(Context& context, ArithmeticOp op, const Value& a, const Value& b);
Value Negate(const Value& value);
Value Plus(const Value& value);

// Python's len().
Int LengthOf(const Value& value);

// A dict of the entries; charges for them.
std::shared_ptr<const Dict> MakeDict(Context& context, std::vector<Dict::Entry> entries);

bool IsIterable(const Value& value);

// What a for loop goes over: items, keys of a dict, code points of a string. Nothing for undefined.
List Iterate(Context& context, const Value& value);

// value[key] and value.name; undefined where there is none.
Value GetItem(Context& context, const Value& value, const Value& key);
Value GetAttribute(Context& context, const Value& value, std::string_view name);

struct SliceBounds {
  std::optional<Int> start;
  std::optional<Int> stop;
  std::optional<Int> step;
};
Value GetSlice(Context& context, const Value& value, const SliceBounds& bounds);

}  // namespace headstart::jinja

#endif  // HEADSTART_ENGINE_TEXT_TEMPLATE_OPERATORS_H_
