// Whether a model's chat template writes tools into the prompt, found by having it write one. One that passes them over
// would leave callers waiting for calls that the model cannot know of.
//
// Thread-safety: a pure function.

#ifndef HEADSTART_GATEWAY_SERVICES_TOOL_SUPPORT_H_
#define HEADSTART_GATEWAY_SERVICES_TOOL_SUPPORT_H_

#include "engine/text/template/chat_template.h"

namespace headstart {

// True as well where it cannot be told, since the template refuses so small a chat: its own words are then better.
bool TakesTools(const ChatTemplate& chat_template);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_TOOL_SUPPORT_H_
