// The for statement and `loop`.

#ifndef HEADSTART_ENGINE_TEXT_TEMPLATE_LOOP_H_
#define HEADSTART_ENGINE_TEXT_TEMPLATE_LOOP_H_

#include <memory>
#include <optional>
#include <string>

#include "engine/text/template/context.h"
#include "engine/text/template/object.h"
#include "engine/text/template/statement.h"

namespace headstart::jinja {

class ForStatement : public Statement {
 public:
  struct Parts {
    Target target;
    ExpressionPtr iterable;
    ExpressionPtr condition;  // of `for x in y if condition`, or null
    bool recursive = false;
    Block body;
    Block otherwise;
  };
  ForStatement(Position position, Parts parts) : Statement(position), parts_(std::move(parts)) {}

  // Runs over `items`, in a scope inside the current one. `depth` is 0 for the outermost of a recursive loop.
  Flow RunOver(Context& context, const Value& items, int depth) const;

 private:
  Flow DoExecute(Context& context) const override;
  List Select(Context& context, const Value& items) const;
  Flow RunOnce(Context& context, const Value& loop, const Value& item) const;

  const Parts parts_;
};

// What a template knows as `loop`.
class Loop : public Object {
 public:
  // `scope` is the one around the loop, where a recursive loop runs again.
  Loop(const ForStatement& statement, bool recursive, List items, int depth, Scope& scope);

  const List& items() const { return items_; }
  void MoveTo(size_t index) { index_ = index; }

  std::string type_name() const override { return "jinja2.runtime.LoopContext"; }
  bool is_callable() const override { return true; }
  std::optional<Value> Attribute(Context& context, std::string_view name) override;

  // loop(items) runs a recursive loop again.
  Value Call(Context& context, const Arguments& arguments) override;

  // loop.changed(value, ...): whether the values differ from the last ones.
  bool Changed(Context& context, const List& values);

 private:
  Value Neighbour(size_t index, std::string_view message) const;
  std::optional<Value> Counter(std::string_view name) const;

  const ForStatement& statement_;
  const bool recursive_;
  const List items_;
  const int depth_;
  Scope& scope_;
  size_t index_ = 0;
  std::optional<Value> last_changed_;
};

}  // namespace headstart::jinja

#endif  // HEADSTART_ENGINE_TEXT_TEMPLATE_LOOP_H_
