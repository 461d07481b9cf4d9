#include "engine/text/template/expression.h"

#include <algorithm>

#include "engine/text/template/context.h"
#include "engine/text/template/object.h"
#include "engine/text/template/repr.h"
#include "engine/text/template/template_error.h"
#include "fmt/format.h"

namespace headstart::jinja {
namespace {

std::optional<Int> SliceBound(Context& context, const ExpressionPtr& bound) {
  if (bound == nullptr) return std::nullopt;
  const Value value = bound->Evaluate(context);
  if (value.is_none()) return std::nullopt;
  if (!value.is_integral()) Fail("slice indices must be integers or None or have an __index__ method");
  return value.as_int();
}

void AddStar(const Value& star, Context& context, Arguments& arguments) {
  List items = Iterate(context, star);
  std::move(items.begin(), items.end(), std::back_inserter(arguments.positional));
}

void AddDoubleStar(const Value& mapping, Arguments& arguments) {
  if (!mapping.is_dict()) Fail(fmt::format("argument after ** must be a mapping, not {}", TypeName(mapping)));
  for (const auto& [key, value] : mapping.as_dict().entries()) {
    if (!key.is_string()) Fail("keywords must be strings");
    const std::string_view name = key.as_text().bytes();
    if (arguments.FindNamed(name) != nullptr) Fail(fmt::format("got multiple values for keyword argument '{}'", name));
    arguments.named.emplace_back(name, value);
  }
}

}  // namespace

Value Expression::Evaluate(Context& context) const {
  const DepthGuard depth(context);
  context.Charge(1);
  context.set_line(line_);
  return DoEvaluate(context);
}

Arguments CallArguments::Evaluate(Context& context) const {
  Arguments arguments;
  arguments.positional.reserve(positional.size());
  for (const auto& argument : positional) arguments.positional.push_back(argument->Evaluate(context));
  for (const auto& [name, argument] : named) arguments.named.emplace_back(name, argument->Evaluate(context));
  if (star != nullptr) AddStar(star->Evaluate(context), context, arguments);
  if (double_star != nullptr) AddDoubleStar(double_star->Evaluate(context), arguments);
  return arguments;
}

NameExpression::NameExpression(Position position, std::string name)
    : Expression(position),
      name_(std::move(name)),
      undefined_(Value::MakeUndefined(fmt::format("'{}' is undefined", name_))) {}

Value NameExpression::DoEvaluate(Context& context) const {
  const Value* found = context.Find(name_);
  return found == nullptr ? undefined_ : *found;
}

Value SequenceExpression::DoEvaluate(Context& context) const {
  List items;
  items.reserve(items_.size());
  for (const auto& item : items_) items.push_back(item->Evaluate(context));
  return Value(std::make_shared<const Sequence>(flavor_, std::move(items)));
}

Value DictExpression::DoEvaluate(Context& context) const {
  std::vector<Dict::Entry> entries;
  entries.reserve(entries_.size());
  for (const auto& [key, value] : entries_) {
    Value name = key->Evaluate(context);
    entries.emplace_back(std::move(name), value->Evaluate(context));
  }
  return Value(MakeDict(context, std::move(entries)));
}

Value AttributeExpression::DoEvaluate(Context& context) const {
  return GetAttribute(context, object_->Evaluate(context), name_);
}

Value ItemExpression::DoEvaluate(Context& context) const {
  const Value object = object_->Evaluate(context);
  return GetItem(context, object, key_->Evaluate(context));
}

Value SliceExpression::DoEvaluate(Context& context) const {
  const Value object = object_->Evaluate(context);
  SliceBounds bounds;
  bounds.start = SliceBound(context, bounds_.start);
  bounds.stop = SliceBound(context, bounds_.stop);
  bounds.step = SliceBound(context, bounds_.step);
  return GetSlice(context, object, bounds);
}

Value CallExpression::Call(Context& context, const Arguments& arguments) const {
  const Value callee = callee_->Evaluate(context);
  context.set_line(line());
  if (callee.is_undefined()) Fail(callee.undefined_message());
  if (!callee.is(Value::Kind::kObject)) Fail(fmt::format("'{}' object is not callable", TypeName(callee)));
  return callee.as_object()->Call(context, arguments);
}

Value CallExpression::DoEvaluate(Context& context) const { return Call(context, arguments_.Evaluate(context)); }

Value CallExpression::EvaluateWithCaller(Context& context, Value caller) const {
  Arguments arguments = arguments_.Evaluate(context);
  arguments.named.emplace_back("caller", std::move(caller));
  return Call(context, arguments);
}

FilterExpression::FilterExpression(Position position, ExpressionPtr input, std::string name, CallArguments arguments)
    : Expression(position),
      input_(std::move(input)),
      name_(std::move(name)),
      filter_(FindFilter(name_)),
      arguments_(std::move(arguments)) {}

Value FilterExpression::DoEvaluate(Context& context) const {
  if (filter_ == nullptr) Fail(fmt::format("No filter named '{}'.", name_));
  const Value input = input_->Evaluate(context);
  const Arguments arguments = arguments_.Evaluate(context);
  context.set_line(line());
  return filter_(context, input, arguments);
}

TestExpression::TestExpression(Position position, ExpressionPtr input, std::string name, CallArguments arguments)
    : Expression(position),
      input_(std::move(input)),
      name_(std::move(name)),
      test_(FindTest(name_)),
      arguments_(std::move(arguments)) {}

Value TestExpression::DoEvaluate(Context& context) const {
  if (test_ == nullptr) Fail(fmt::format("No test named '{}'.", name_));
  const Value input = input_->Evaluate(context);
  return Value(test_(context, input, arguments_.Evaluate(context)));
}

Value UnaryExpression::DoEvaluate(Context& context) const {
  const Value operand = operand_->Evaluate(context);
  if (op_ == Op::kNot) return Value(!IsTrue(operand));
  return op_ == Op::kNegate ? Negate(operand) : Plus(operand);
}

Value ArithmeticExpression::DoEvaluate(Context& context) const {
  Value result = first_->Evaluate(context);
  for (const auto& [op, operand] : rest_) result = Arithmetic(context, op, result, operand->Evaluate(context));
  return result;
}

Value ConcatExpression::DoEvaluate(Context& context) const {
  TextBuilder builder;
  for (const auto& part : parts_) {
    builder.Append(ToText(context, part->Evaluate(context)));
    if (builder.size() > context.max_bytes()) context.ChargeBytes(builder.size());
  }
  context.ChargeBytes(builder.size());
  return Value(builder.Take());
}

bool Compare(Context& context, CompareOp op, const Value& a, const Value& b) {
  if (op == CompareOp::kIn) return Contains(context, b, a);
  if (op == CompareOp::kNotIn) return !Contains(context, b, a);
  ChargeComparison(context, a, b);
  switch (op) {
    case CompareOp::kEqual:
      return Equals(a, b);
    case CompareOp::kNotEqual:
      return !Equals(a, b);
    case CompareOp::kLess:
      return LessThan(a, b, "<");
    case CompareOp::kGreater:
      return LessThan(b, a, ">");
    case CompareOp::kLessEqual:
      return LessThan(a, b, "<=") || Equals(a, b);
    default:
      return LessThan(b, a, ">=") || Equals(a, b);
  }
}

Value CompareExpression::DoEvaluate(Context& context) const {
  Value left = first_->Evaluate(context);
  for (const auto& [op, operand] : rest_) {
    Value right = operand->Evaluate(context);
    if (!Compare(context, op, left, right)) return Value(false);
    left = std::move(right);
  }
  return Value(true);
}

Value LogicExpression::DoEvaluate(Context& context) const {
  Value value;
  for (const auto& operand : operands_) {
    value = operand->Evaluate(context);
    if (IsTrue(value) == (op_ == Op::kOr)) break;
  }
  return value;
}

Value ConditionalExpression::DoEvaluate(Context& context) const {
  if (IsTrue(condition_->Evaluate(context))) return then_->Evaluate(context);
  if (otherwise_ != nullptr) return otherwise_->Evaluate(context);
  return Value::MakeUndefined("the inline if-expression evaluated to false and no else section was defined.");
}

}  // namespace headstart::jinja
