#include "engine/text/template/macro.h"

#include <algorithm>

#include "engine/text/template/repr.h"
#include "engine/text/template/template_error.h"
#include "fmt/format.h"

namespace headstart::jinja {

std::optional<Value> Macro::Attribute(Context&, std::string_view name) {
  if (name == "name") return Value::MakeString(definition_.name);
  if (name != "arguments") return std::nullopt;
  List names;
  for (const auto& parameter : definition_.parameters) names.push_back(Value::MakeString(parameter.name));
  return Value::MakeTuple(std::move(names));
}

bool Macro::HasParameter(std::string_view name) const {
  return std::any_of(definition_.parameters.begin(), definition_.parameters.end(),
                     [&](const MacroDefinition::Parameter& p) { return p.name == name; });
}

void Macro::BindParameters(Context& context, const Arguments& arguments) const {
  for (size_t i = 0; i < definition_.parameters.size(); ++i) {
    const auto& [name, default_value] = definition_.parameters[i];
    const Value* named = arguments.FindNamed(name);
    const bool is_positional = i < arguments.positional.size();
    if (named != nullptr && is_positional) Fail(fmt::format("macro got multiple values for argument '{}'", name));
    if (is_positional) {
      context.Set(name, arguments.positional[i]);
    } else if (named != nullptr) {
      context.Set(name, *named);
    } else if (default_value != nullptr) {
      context.Set(name, default_value->Evaluate(context));
    } else {
      context.Set(name, Value::MakeUndefined(fmt::format("parameter '{}' was not provided", name)));
    }
  }
}

void Macro::BindAll(Context& context, const Arguments& arguments) const {
  BindParameters(context, arguments);
  const size_t taken = std::min(definition_.parameters.size(), arguments.positional.size());
  std::vector<Dict::Entry> others;
  Value caller = Value::MakeUndefined("No caller defined");
  for (const auto& [name, value] : arguments.named) {
    if (HasParameter(name)) continue;
    if (name == "caller" && definition_.takes_caller) {
      caller = value;
    } else if (definition_.takes_kwargs) {
      others.emplace_back(Value::MakeString(name), value);
    } else {
      Fail(fmt::format("macro '{}' takes no keyword argument '{}'", definition_.name, name));
    }
  }
  if (definition_.takes_caller && !HasParameter("caller")) context.Set("caller", caller);
  if (definition_.takes_kwargs) context.Set("kwargs", Value(std::make_shared<const Dict>(std::move(others))));
  if (definition_.takes_varargs) {
    context.Set("varargs", Value::MakeTuple({arguments.positional.begin() + static_cast<ptrdiff_t>(taken),
                                             arguments.positional.end()}));
  } else if (arguments.positional.size() > taken) {
    Fail(fmt::format("macro '{}' takes not more than {} argument(s)", definition_.name, taken));
  }
}

Value Macro::Call(Context& context, const Arguments& arguments) {
  const DepthGuard depth(context);
  const int line = context.line();
  const ScopeGuard scope(context, scope_);
  BindAll(context, arguments);
  CaptureGuard capture(context);
  definition_.body.Execute(context);
  context.set_line(line);
  return Value(capture.Take());
}

Flow MacroStatement::DoExecute(Context& context) const {
  context.Set(definition_.name,
              Value(std::shared_ptr<Object>(std::make_shared<Macro>(definition_, context.CaptureScope()))));
  return Flow::kNext;
}

Flow CallBlockStatement::DoExecute(Context& context) const {
  Value caller(std::shared_ptr<Object>(std::make_shared<Macro>(caller_, context.CaptureScope())));
  context.Write(ToText(context, call_->EvaluateWithCaller(context, std::move(caller))));
  return Flow::kNext;
}

}  // namespace headstart::jinja
