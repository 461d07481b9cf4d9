// How values print: Python's str() and repr(). The caller's bytes stay known: what prints a container with any of them
// is the caller's as a whole.

#ifndef HEADSTART_ENGINE_TEXT_TEMPLATE_REPR_H_
#define HEADSTART_ENGINE_TEXT_TEMPLATE_REPR_H_

#include <string>
#include <string_view>

#include "engine/text/template/text.h"
#include "engine/text/template/value.h"

namespace headstart::jinja {

class Context;

// Printing a byte takes longer than copying one.
inline constexpr size_t kPrintedBytesPerStep = 8;

// As Python's str(); charges for what it makes of values that are not strings.
Text ToText(Context& context, const Value& value);
Text Repr(Context& context, const Value& value);

// For values known to be small: fails with RESOURCE_EXHAUSTED beyond `max_bytes`.
inline constexpr size_t kSmallText = 4096;
Text ToText(const Value& value, size_t max_bytes = kSmallText);
Text Repr(const Value& value, size_t max_bytes);

std::string FormatInt(Int value);
std::string FormatFloat(double value);
std::string QuoteString(std::string_view bytes);  // 'it' as Python quotes it

}  // namespace headstart::jinja

#endif  // HEADSTART_ENGINE_TEXT_TEMPLATE_REPR_H_
