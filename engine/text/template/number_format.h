// Numbers in the forms that format specifications ask for.

#ifndef HEADSTART_ENGINE_TEXT_TEMPLATE_NUMBER_FORMAT_H_
#define HEADSTART_ENGINE_TEXT_TEMPLATE_NUMBER_FORMAT_H_

#include <string>

#include "engine/text/template/value.h"

namespace headstart::jinja {

// `kind` is one of f F e E g G %. REQUIRES: precision <= kMaxPrecision.
std::string FormatReal(double value, char kind, int precision);
inline constexpr int kMaxPrecision = 100;

// `kind` is one of d i u x X o b.
std::string FormatInteger(Int value, char kind);

// With a sign if one is asked for ('+' or ' ', or '\0').
std::string WithSign(std::string number, char sign);

}  // namespace headstart::jinja

#endif  // HEADSTART_ENGINE_TEXT_TEMPLATE_NUMBER_FORMAT_H_
