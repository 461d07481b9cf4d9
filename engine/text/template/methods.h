// Methods of str, dict, list and the like. Those that would change their object are refused, as the immutable sandbox
// does.

#ifndef HEADSTART_ENGINE_TEXT_TEMPLATE_METHODS_H_
#define HEADSTART_ENGINE_TEXT_TEMPLATE_METHODS_H_

#include <optional>
#include <string_view>

#include "engine/text/template/function.h"
#include "engine/text/template/value.h"

namespace headstart::jinja {

// `value.name`, bound, or nothing where the type has no such method. An unsafe one is an undefined value that says so.
std::optional<Value> FindMethod(const Value& value, std::string_view name);

struct NamedMethod {
  std::string_view name;
  Method method;
};

// The methods of one type, for FindMethod. Null where there is none of that name.
const NamedMethod* FindStringMethod(std::string_view name);
const NamedMethod* FindDictMethod(std::string_view name);
const NamedMethod* FindSequenceMethod(std::string_view name);

}  // namespace headstart::jinja

#endif  // HEADSTART_ENGINE_TEXT_TEMPLATE_METHODS_H_
