// Macros, and the call blocks that hand one to another.

#ifndef HEADSTART_ENGINE_TEXT_TEMPLATE_MACRO_H_
#define HEADSTART_ENGINE_TEXT_TEMPLATE_MACRO_H_

#include <memory>
#include <string>
#include <vector>

#include "engine/text/template/context.h"
#include "engine/text/template/object.h"
#include "engine/text/template/statement.h"

namespace headstart::jinja {

// What is known of a macro before it runs. The body decides what else it takes: naming `varargs`, `kwargs` or `caller`
// is enough.
struct MacroDefinition {
  struct Parameter {
    std::string name;
    ExpressionPtr default_value;  // or null
  };
  std::string name;
  std::vector<Parameter> parameters;
  Block body;
  bool takes_varargs = false;
  bool takes_kwargs = false;
  bool takes_caller = false;
};

// A macro and the scope it was defined in. The definition outlives it; the scope must be captured.
class Macro : public Object {
 public:
  Macro(const MacroDefinition& definition, Scope& scope) : definition_(definition), scope_(scope) {}

  std::string type_name() const override { return "jinja2.runtime.Macro"; }
  bool is_callable() const override { return true; }
  std::optional<Value> Attribute(Context& context, std::string_view name) override;
  Value Call(Context& context, const Arguments& arguments) override;

 private:
  void BindAll(Context& context, const Arguments& arguments) const;
  void BindParameters(Context& context, const Arguments& arguments) const;
  bool HasParameter(std::string_view name) const;

  const MacroDefinition& definition_;
  Scope& scope_;
};

class MacroStatement : public Statement {
 public:
  MacroStatement(Position position, MacroDefinition definition)
      : Statement(position), definition_(std::move(definition)) {}

 private:
  Flow DoExecute(Context& context) const override;

  const MacroDefinition definition_;
};

// {% call(x) macro(...) %}body{% endcall %}
class CallBlockStatement : public Statement {
 public:
  CallBlockStatement(Position position, std::unique_ptr<const CallExpression> call, MacroDefinition caller)
      : Statement(position), call_(std::move(call)), caller_(std::move(caller)) {}

 private:
  Flow DoExecute(Context& context) const override;

  const std::unique_ptr<const CallExpression> call_;
  const MacroDefinition caller_;
};

}  // namespace headstart::jinja

#endif  // HEADSTART_ENGINE_TEXT_TEMPLATE_MACRO_H_
