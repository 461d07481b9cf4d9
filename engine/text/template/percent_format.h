// Python's two ways to format: "%s is %d" % values, and "{} is {x}".format(...).

#ifndef HEADSTART_ENGINE_TEXT_TEMPLATE_PERCENT_FORMAT_H_
#define HEADSTART_ENGINE_TEXT_TEMPLATE_PERCENT_FORMAT_H_

#include "engine/text/template/arguments.h"
#include "engine/text/template/text.h"
#include "engine/text/template/value.h"

namespace headstart::jinja {

class Context;

// `values` is a tuple, a dict for "%(name)s", or the one value there is.
Text PercentFormat(Context& context, const Text& format, const Value& values);

// Fields {}, {0}, {name}, with !r and !s, and a specification of fill, alignment, sign, zero, width, precision and
// type.
Text BraceFormat(Context& context, const Text& format, const Arguments& arguments);

}  // namespace headstart::jinja

#endif  // HEADSTART_ENGINE_TEXT_TEMPLATE_PERCENT_FORMAT_H_
