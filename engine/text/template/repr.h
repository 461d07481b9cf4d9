// How values print: Python's str() and repr(). The caller's bytes stay known: what prints a container with any of them
// is the caller's as a whole.

#ifndef HEADSTART_ENGINE_TEXT_TEMPLATE_REPR_H_
#define HEADSTART_ENGINE_TEXT_TEMPLATE_REPR_H_

#include <string>
#include <string_view>

#include "engine/text/template/text.h"
#include "engine/text/template/value.h"

namespace headstart::jinja {

Text ToText(const Value& value);

// Fails with RESOURCE_EXHAUSTED where it would exceed `max_bytes`.
Text ToText(const Value& value, size_t max_bytes);
Text Repr(const Value& value, size_t max_bytes);

std::string FormatInt(Int value);
std::string FormatFloat(double value);
std::string QuoteString(std::string_view bytes);  // 'it' as Python quotes it

}  // namespace headstart::jinja

#endif  // HEADSTART_ENGINE_TEXT_TEMPLATE_REPR_H_
