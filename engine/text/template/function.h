// Functions and methods that are not macros.

#ifndef HEADSTART_ENGINE_TEXT_TEMPLATE_FUNCTION_H_
#define HEADSTART_ENGINE_TEXT_TEMPLATE_FUNCTION_H_

#include <string_view>

#include "engine/text/template/object.h"

namespace headstart::jinja {

using Function = Value (*)(Context& context, const Arguments& arguments);
using Method = Value (*)(Context& context, const Value& self, const Arguments& arguments);

// `name` must outlive the value.
Value MakeFunction(std::string_view name, Function function);
Value MakeMethod(std::string_view name, Method method, Value self);

}  // namespace headstart::jinja

#endif  // HEADSTART_ENGINE_TEXT_TEMPLATE_FUNCTION_H_
