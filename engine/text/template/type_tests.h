// Jinja's tests: what stands after `is`.

#ifndef HEADSTART_ENGINE_TEXT_TEMPLATE_TYPE_TESTS_H_
#define HEADSTART_ENGINE_TEXT_TEMPLATE_TYPE_TESTS_H_

#include <string_view>

#include "engine/text/template/arguments.h"
#include "engine/text/template/value.h"

namespace headstart::jinja {

class Context;

using Test = bool (*)(Context& context, const Value& value, const Arguments& arguments);

// Null where there is none of that name.
Test FindTest(std::string_view name);

}  // namespace headstart::jinja

#endif  // HEADSTART_ENGINE_TEXT_TEMPLATE_TYPE_TESTS_H_
