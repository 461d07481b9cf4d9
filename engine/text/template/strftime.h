// strftime as Python has it on Linux in the C locale, for a time in UTC without a time zone of its own (%Z and %z are
// empty).

#ifndef HEADSTART_ENGINE_TEXT_TEMPLATE_STRFTIME_H_
#define HEADSTART_ENGINE_TEXT_TEMPLATE_STRFTIME_H_

#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace headstart::jinja {

// Directives it does not know stay as they are.
std::string Strftime(std::string_view format, absl::Time time);

}  // namespace headstart::jinja

#endif  // HEADSTART_ENGINE_TEXT_TEMPLATE_STRFTIME_H_
