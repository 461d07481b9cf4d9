// Expressions: the nodes of a parsed template that have a value, each of which knows how to evaluate itself.
//
// Thread-safety: immutable; what changes is in the Context.

#ifndef HEADSTART_ENGINE_TEXT_TEMPLATE_EXPRESSION_H_
#define HEADSTART_ENGINE_TEXT_TEMPLATE_EXPRESSION_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/text/template/arguments.h"
#include "engine/text/template/filters.h"
#include "engine/text/template/lexer.h"
#include "engine/text/template/operators.h"
#include "engine/text/template/type_tests.h"
#include "engine/text/template/value.h"

namespace headstart::jinja {

class Context;

class Expression {
 public:
  explicit Expression(Position position) : line_(position.line) {}
  virtual ~Expression() = default;
  Expression(const Expression&) = delete;
  Expression& operator=(const Expression&) = delete;

  // Counts a step and a level of depth, and evaluates.
  Value Evaluate(Context& context) const;

 protected:
  int line() const { return line_; }

 private:
  virtual Value DoEvaluate(Context& context) const = 0;

  const int line_;
};

using ExpressionPtr = std::unique_ptr<const Expression>;
using ExpressionList = std::vector<ExpressionPtr>;

// What stands between the parentheses of a call.
struct CallArguments {
  ExpressionList positional;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
  ExpressionPtr star;         // *args
  ExpressionPtr double_star;  // **kwargs

  Arguments Evaluate(Context& context) const;
};

class ConstantExpression : public Expression {
 public:
  ConstantExpression(Position position, Value value) : Expression(position), value_(std::move(value)) {}

 private:
  Value DoEvaluate(Context&) const override { return value_; }

  const Value value_;
};

class NameExpression : public Expression {
 public:
  NameExpression(Position position, std::string name);

 private:
  Value DoEvaluate(Context& context) const override;

  const std::string name_;
  const Value undefined_;
};

class SequenceExpression : public Expression {
 public:
  SequenceExpression(Position position, Sequence::Flavor flavor, ExpressionList items)
      : Expression(position), flavor_(flavor), items_(std::move(items)) {}

 private:
  Value DoEvaluate(Context& context) const override;

  const Sequence::Flavor flavor_;
  const ExpressionList items_;
};

class DictExpression : public Expression {
 public:
  using Entries = std::vector<std::pair<ExpressionPtr, ExpressionPtr>>;
  DictExpression(Position position, Entries entries) : Expression(position), entries_(std::move(entries)) {}

 private:
  Value DoEvaluate(Context& context) const override;

  const Entries entries_;
};

class AttributeExpression : public Expression {
 public:
  AttributeExpression(Position position, ExpressionPtr object, std::string name)
      : Expression(position), object_(std::move(object)), name_(std::move(name)) {}

 private:
  Value DoEvaluate(Context& context) const override;

  const ExpressionPtr object_;
  const std::string name_;
};

class ItemExpression : public Expression {
 public:
  ItemExpression(Position position, ExpressionPtr object, ExpressionPtr key)
      : Expression(position), object_(std::move(object)), key_(std::move(key)) {}

 private:
  Value DoEvaluate(Context& context) const override;

  const ExpressionPtr object_;
  const ExpressionPtr key_;
};

// object[start:stop:step]; what is left out is null.
class SliceExpression : public Expression {
 public:
  struct Bounds {
    ExpressionPtr start;
    ExpressionPtr stop;
    ExpressionPtr step;
  };
  SliceExpression(Position position, ExpressionPtr object, Bounds bounds)
      : Expression(position), object_(std::move(object)), bounds_(std::move(bounds)) {}

 private:
  Value DoEvaluate(Context& context) const override;

  const ExpressionPtr object_;
  const Bounds bounds_;
};

class CallExpression : public Expression {
 public:
  CallExpression(Position position, ExpressionPtr callee, CallArguments arguments)
      : Expression(position), callee_(std::move(callee)), arguments_(std::move(arguments)) {}

  // As Evaluate, with the body of a call block as the argument `caller`.
  Value EvaluateWithCaller(Context& context, Value caller) const;

 private:
  Value DoEvaluate(Context& context) const override;
  Value Call(Context& context, const Arguments& arguments) const;

  const ExpressionPtr callee_;
  const CallArguments arguments_;
};

class FilterExpression : public Expression {
 public:
  FilterExpression(Position position, ExpressionPtr input, std::string name, CallArguments arguments);

 private:
  Value DoEvaluate(Context& context) const override;

  const ExpressionPtr input_;
  const std::string name_;
  const Filter filter_;
  const CallArguments arguments_;
};

class TestExpression : public Expression {
 public:
  TestExpression(Position position, ExpressionPtr input, std::string name, CallArguments arguments);

 private:
  Value DoEvaluate(Context& context) const override;

  const ExpressionPtr input_;
  const std::string name_;
  const Test test_;
  const CallArguments arguments_;
};

class UnaryExpression : public Expression {
 public:
  enum class Op { kNegate, kPlus, kNot };
  UnaryExpression(Position position, Op op, ExpressionPtr operand)
      : Expression(position), op_(op), operand_(std::move(operand)) {}

 private:
  Value DoEvaluate(Context& context) const override;

  const Op op_;
  const ExpressionPtr operand_;
};

// first op operand op operand ..., from left to right. Chains are one node, so that their length costs no depth.
class ArithmeticExpression : public Expression {
 public:
  using Rest = std::vector<std::pair<ArithmeticOp, ExpressionPtr>>;
  ArithmeticExpression(Position position, ExpressionPtr first, Rest rest)
      : Expression(position), first_(std::move(first)), rest_(std::move(rest)) {}

 private:
  Value DoEvaluate(Context& context) const override;

  const ExpressionPtr first_;
  const Rest rest_;
};

// a ~ b ~ c: the texts of all.
class ConcatExpression : public Expression {
 public:
  ConcatExpression(Position position, ExpressionList parts) : Expression(position), parts_(std::move(parts)) {}

 private:
  Value DoEvaluate(Context& context) const override;

  const ExpressionList parts_;
};

enum class CompareOp { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual, kIn, kNotIn };

// a < b < c, as Python chains comparisons.
class CompareExpression : public Expression {
 public:
  using Rest = std::vector<std::pair<CompareOp, ExpressionPtr>>;
  CompareExpression(Position position, ExpressionPtr first, Rest rest)
      : Expression(position), first_(std::move(first)), rest_(std::move(rest)) {}

 private:
  Value DoEvaluate(Context& context) const override;

  const ExpressionPtr first_;
  const Rest rest_;
};

// Whether the comparison holds; charges for what it looks at.
bool Compare(Context& context, CompareOp op, const Value& a, const Value& b);

// `a and b and c` or `a or b or c`: the first operand that decides, or the last.
class LogicExpression : public Expression {
 public:
  enum class Op { kAnd, kOr };
  LogicExpression(Position position, Op op, ExpressionList operands)
      : Expression(position), op_(op), operands_(std::move(operands)) {}

 private:
  Value DoEvaluate(Context& context) const override;

  const Op op_;
  const ExpressionList operands_;
};

// `then if condition else otherwise`; undefined where there is no else.
class ConditionalExpression : public Expression {
 public:
  ConditionalExpression(Position position, ExpressionPtr condition, ExpressionPtr then, ExpressionPtr otherwise)
      : Expression(position),
        condition_(std::move(condition)),
        then_(std::move(then)),
        otherwise_(std::move(otherwise)) {}

 private:
  Value DoEvaluate(Context& context) const override;

  const ExpressionPtr condition_;
  const ExpressionPtr then_;
  const ExpressionPtr otherwise_;
};

}  // namespace headstart::jinja

#endif  // HEADSTART_ENGINE_TEXT_TEMPLATE_EXPRESSION_H_
