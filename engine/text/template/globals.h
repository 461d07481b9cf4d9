// The functions every template may call: range, dict, namespace, cycler, joiner, and what Hugging Face adds,
// raise_exception and strftime_now.

#ifndef HEADSTART_ENGINE_TEXT_TEMPLATE_GLOBALS_H_
#define HEADSTART_ENGINE_TEXT_TEMPLATE_GLOBALS_H_

#include "engine/text/template/context.h"

namespace headstart::jinja {

// Sets them in the current scope.
void SetGlobals(Context& context);

}  // namespace headstart::jinja

#endif  // HEADSTART_ENGINE_TEXT_TEMPLATE_GLOBALS_H_
