// Statements: the nodes of a parsed template that write or assign.
//
// Thread-safety: immutable; what changes is in the Context.

#ifndef HEADSTART_ENGINE_TEXT_TEMPLATE_STATEMENT_H_
#define HEADSTART_ENGINE_TEXT_TEMPLATE_STATEMENT_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/text/template/expression.h"
#include "engine/text/template/target.h"

namespace headstart::jinja {

// How a statement ended: only kNext lets the ones after it run.
enum class Flow { kNext, kBreak, kContinue };

class Statement {
 public:
  explicit Statement(Position position) : line_(position.line) {}
  virtual ~Statement() = default;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Flow Execute(Context& context) const;

 private:
  virtual Flow DoExecute(Context& context) const = 0;

  const int line_;
};

class Block {
 public:
  void Add(std::unique_ptr<const Statement> statement) { statements_.push_back(std::move(statement)); }
  Flow Execute(Context& context) const;

 private:
  std::vector<std::unique_ptr<const Statement>> statements_;
};

class DataStatement : public Statement {
 public:
  DataStatement(Position position, std::string data) : Statement(position), data_(std::move(data)) {}

 private:
  Flow DoExecute(Context& context) const override;

  const std::string data_;
};

class OutputStatement : public Statement {
 public:
  OutputStatement(Position position, ExpressionPtr value) : Statement(position), value_(std::move(value)) {}

 private:
  Flow DoExecute(Context& context) const override;

  const ExpressionPtr value_;
};

class SetStatement : public Statement {
 public:
  SetStatement(Position position, Target target, ExpressionPtr value)
      : Statement(position), target_(std::move(target)), value_(std::move(value)) {}

 private:
  Flow DoExecute(Context& context) const override;

  const Target target_;
  const ExpressionPtr value_;
};

class IfStatement : public Statement {
 public:
  struct Branch {
    ExpressionPtr condition;  // null for else
    Block body;
  };
  IfStatement(Position position, std::vector<Branch> branches) : Statement(position), branches_(std::move(branches)) {}

 private:
  Flow DoExecute(Context& context) const override;

  const std::vector<Branch> branches_;
};

class FlowStatement : public Statement {
 public:
  FlowStatement(Position position, Flow flow) : Statement(position), flow_(flow) {}

 private:
  Flow DoExecute(Context&) const override { return flow_; }

  const Flow flow_;
};

// A block with names of its own: `with`, `block`, `generation`.
class WithStatement : public Statement {
 public:
  using Assignments = std::vector<std::pair<Target, ExpressionPtr>>;
  WithStatement(Position position, Assignments assignments, Block body)
      : Statement(position), assignments_(std::move(assignments)), body_(std::move(body)) {}

 private:
  Flow DoExecute(Context& context) const override;

  const Assignments assignments_;
  const Block body_;
};

// The text that a block writes, for `filter` blocks and `set` blocks.
class CaptureExpression : public Expression {
 public:
  CaptureExpression(Position position, Block body) : Expression(position), body_(std::move(body)) {}

 private:
  Value DoEvaluate(Context& context) const override;

  const Block body_;
};

}  // namespace headstart::jinja

#endif  // HEADSTART_ENGINE_TEXT_TEMPLATE_STATEMENT_H_
