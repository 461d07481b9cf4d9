// The arguments of a call, and their binding to named parameters as Python does it.
//
//   const auto bound = Bind(arguments, "indent", {"width", "first", "blank"});
//   const Value& width = bound.Get(0, Value(Int{4}));

#ifndef HEADSTART_ENGINE_TEXT_TEMPLATE_ARGUMENTS_H_
#define HEADSTART_ENGINE_TEXT_TEMPLATE_ARGUMENTS_H_

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/text/template/value.h"

namespace headstart::jinja {

struct Arguments {
  List positional;
  std::vector<std::pair<std::string, Value>> named;

  const Value* FindNamed(std::string_view name) const;
};

class BoundArguments {
 public:
  BoundArguments(std::string_view function, std::initializer_list<std::string_view> names)
      : function_(function), names_(names), values_(names.size()) {}

  bool Has(size_t index) const { return values_[index].has_value(); }
  Value Get(size_t index, Value otherwise = {}) const {
    if (Has(index)) return *values_[index];
    return otherwise;
  }

  // Fails where the caller left it out.
  const Value& Require(size_t index) const;

  // Fails unless it is an integer, or left out.
  Int GetInt(size_t index, Int otherwise) const;
  bool GetBool(size_t index, bool otherwise) const;
  Text GetText(size_t index, std::string_view otherwise) const;  // str() of what is there

  // Nothing where it is left out or none.
  std::optional<Value> GetOptional(size_t index) const;

 private:
  friend BoundArguments Bind(const Arguments&, std::string_view, std::initializer_list<std::string_view>);

  std::string_view function_;
  std::vector<std::string_view> names_;
  std::vector<std::optional<Value>> values_;
};

// Fails for too many arguments, unknown names, and parameters given twice. `function` names it in messages.
BoundArguments Bind(const Arguments& arguments, std::string_view function,
                    std::initializer_list<std::string_view> names);

}  // namespace headstart::jinja

#endif  // HEADSTART_ENGINE_TEXT_TEMPLATE_ARGUMENTS_H_
