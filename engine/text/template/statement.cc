#include "engine/text/template/statement.h"

#include "engine/text/template/context.h"
#include "engine/text/template/repr.h"

namespace headstart::jinja {

Flow Statement::Execute(Context& context) const {
  const DepthGuard depth(context);
  context.Charge(1);
  context.set_line(line_);
  return DoExecute(context);
}

Flow Block::Execute(Context& context) const {
  for (const auto& statement : statements_) {
    if (const Flow flow = statement->Execute(context); flow != Flow::kNext) return flow;
  }
  return Flow::kNext;
}

Flow DataStatement::DoExecute(Context& context) const {
  context.Write(data_);
  return Flow::kNext;
}

Flow OutputStatement::DoExecute(Context& context) const {
  context.Write(ToText(context, value_->Evaluate(context)));
  return Flow::kNext;
}

Flow SetStatement::DoExecute(Context& context) const {
  target_.Assign(context, value_->Evaluate(context));
  return Flow::kNext;
}

Flow IfStatement::DoExecute(Context& context) const {
  for (const Branch& branch : branches_) {
    if (branch.condition == nullptr || IsTrue(branch.condition->Evaluate(context))) return branch.body.Execute(context);
  }
  return Flow::kNext;
}

Flow WithStatement::DoExecute(Context& context) const {
  List values;  // all of them see the names outside
  for (const auto& assignment : assignments_) values.push_back(assignment.second->Evaluate(context));
  const ScopeGuard scope(context);
  for (size_t i = 0; i < values.size(); ++i) assignments_[i].first.Assign(context, values[i]);
  return body_.Execute(context);
}

Value CaptureExpression::DoEvaluate(Context& context) const {
  const ScopeGuard scope(context);
  CaptureGuard capture(context);
  body_.Execute(context);
  return Value(capture.Take());
}

}  // namespace headstart::jinja
