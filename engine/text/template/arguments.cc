#include "engine/text/template/arguments.h"

#include <algorithm>

#include "engine/text/template/repr.h"
#include "engine/text/template/template_error.h"
#include "fmt/format.h"

namespace headstart::jinja {

const Value* Arguments::FindNamed(std::string_view name) const {
  for (const auto& [key, value] : named) {
    if (key == name) return &value;
  }
  return nullptr;
}

const Value& BoundArguments::Require(size_t index) const {
  if (!Has(index)) Fail(fmt::format("{}() missing 1 required positional argument: '{}'", function_, names_[index]));
  return *values_[index];
}

Int BoundArguments::GetInt(size_t index, Int otherwise) const {
  if (!Has(index)) return otherwise;
  const Value& value = *values_[index];
  if (!value.is_integral()) {
    Fail(fmt::format("{}(): '{}' must be an integer, not '{}'", function_, names_[index], TypeName(value)));
  }
  return value.as_int();
}

bool BoundArguments::GetBool(size_t index, bool otherwise) const {
  return Has(index) ? IsTrue(*values_[index]) : otherwise;
}

Text BoundArguments::GetText(size_t index, std::string_view otherwise) const {
  return Has(index) ? ToText(*values_[index]) : Text(otherwise);
}

std::optional<Value> BoundArguments::GetOptional(size_t index) const {
  if (!Has(index) || values_[index]->is_none()) return std::nullopt;
  return *values_[index];
}

BoundArguments Bind(const Arguments& arguments, std::string_view function,
                    std::initializer_list<std::string_view> names) {
  BoundArguments bound(function, names);
  if (arguments.positional.size() > names.size()) {
    Fail(fmt::format("{}() takes at most {} argument(s), {} given", function, names.size(),
                     arguments.positional.size()));
  }
  std::copy(arguments.positional.begin(), arguments.positional.end(), bound.values_.begin());
  for (const auto& [name, value] : arguments.named) {
    const auto found = std::find(bound.names_.begin(), bound.names_.end(), name);
    if (found == bound.names_.end()) Fail(fmt::format("{}() got an unexpected keyword argument '{}'", function, name));
    auto& slot = bound.values_[static_cast<size_t>(found - bound.names_.begin())];
    if (slot) Fail(fmt::format("{}() got multiple values for argument '{}'", function, name));
    slot = value;
  }
  return bound;
}

}  // namespace headstart::jinja
