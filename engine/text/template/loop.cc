#include "engine/text/template/loop.h"

#include <algorithm>

#include "engine/text/template/function.h"
#include "engine/text/template/template_error.h"
#include "fmt/format.h"

namespace headstart::jinja {
namespace {

Value Cycle(Context&, const Value& self, const Arguments& arguments) {
  if (arguments.positional.empty()) Fail("no items for cycling given");
  const auto index = static_cast<size_t>(self.as_int());
  return arguments.positional[index % arguments.positional.size()];
}

// loop.changed belongs to a loop that changes, which holds its own last values; the function refers to it.
class ChangedFunction : public Object {
 public:
  explicit ChangedFunction(Loop& loop) : loop_(loop) {}

  std::string type_name() const override { return "method"; }
  bool is_callable() const override { return true; }
  Value Call(Context& context, const Arguments& arguments) override {
    return Value(loop_.Changed(context, arguments.positional));
  }

 private:
  Loop& loop_;
};

}  // namespace

Flow ForStatement::DoExecute(Context& context) const { return RunOver(context, parts_.iterable->Evaluate(context), 0); }

List ForStatement::Select(Context& context, const Value& items) const {
  List all = Iterate(context, items);
  if (parts_.condition == nullptr) return all;
  const ScopeGuard scope(context);
  List selected;
  for (Value& item : all) {
    parts_.target.Assign(context, item);
    if (IsTrue(parts_.condition->Evaluate(context))) selected.push_back(std::move(item));
  }
  return selected;
}

Flow ForStatement::RunOnce(Context& context, const Value& loop, const Value& item) const {
  context.Charge(1);
  const ScopeGuard scope(context);
  context.Set("loop", loop);
  parts_.target.Assign(context, item);
  return parts_.body.Execute(context);
}

Flow ForStatement::RunOver(Context& context, const Value& items, int depth) const {
  Scope& outer = parts_.recursive ? context.CaptureScope() : context.scope();
  const Value loop_value = context.Own<Loop>(*this, parts_.recursive, Select(context, items), depth, outer);
  Loop& loop = *loop_value.object_as<Loop>();
  if (loop.items().empty()) {
    const ScopeGuard scope(context);
    return parts_.otherwise.Execute(context);
  }
  for (size_t i = 0; i < loop.items().size(); ++i) {
    loop.MoveTo(i);
    if (RunOnce(context, loop_value, loop.items()[i]) == Flow::kBreak) break;
  }
  return Flow::kNext;
}

Loop::Loop(const ForStatement& statement, bool recursive, List items, int depth, Scope& scope)
    : statement_(statement), recursive_(recursive), items_(std::move(items)), depth_(depth), scope_(scope) {}

Value Loop::Neighbour(size_t index, std::string_view message) const {
  return index < items_.size() ? items_[index] : Value::MakeUndefined(std::string(message));
}

std::optional<Value> Loop::Counter(std::string_view name) const {
  const Int index = static_cast<Int>(index_);
  const Int length = static_cast<Int>(items_.size());
  if (name == "index") return Value(index + 1);
  if (name == "index0") return Value(index);
  if (name == "revindex") return Value(length - index);
  if (name == "revindex0") return Value(length - index - 1);
  if (name == "length") return Value(length);
  if (name == "depth") return Value(Int{depth_} + 1);
  if (name == "depth0") return Value(Int{depth_});
  return std::nullopt;
}

std::optional<Value> Loop::Attribute(Context& context, std::string_view name) {
  if (name == "first") return Value(index_ == 0);
  if (name == "last") return Value(index_ + 1 == items_.size());
  if (name == "previtem") return Neighbour(index_ - 1, "there is no previous item");
  if (name == "nextitem") return Neighbour(index_ + 1, "there is no next item");
  if (name == "cycle") return MakeMethod("cycle", Cycle, Value(static_cast<Int>(index_)));
  if (name == "changed") return context.Own<ChangedFunction>(*this);
  return Counter(name);
}

Value Loop::Call(Context& context, const Arguments& arguments) {
  if (!recursive_) Fail("The loop must have the 'recursive' marker to be called recursively.");
  const auto bound = Bind(arguments, "loop", {"iterable"});
  const ScopeGuard scope(context, scope_);
  CaptureGuard capture(context);
  statement_.RunOver(context, bound.Require(0), depth_ + 1);
  return Value(capture.Take());
}

bool Loop::Changed(Context& context, const List& values) {
  Value now = Value::MakeTuple(values);
  const bool same = last_changed_ && Compare(context, CompareOp::kEqual, *last_changed_, now);
  if (!same) last_changed_ = std::move(now);
  return !same;
}

}  // namespace headstart::jinja
