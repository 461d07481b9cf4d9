// Which form a model writes its tool calls in.
//
// Thread-safety: free functions.

#ifndef HEADSTART_GATEWAY_OPENAI_TOOL_CALL_FORMAT_H_
#define HEADSTART_GATEWAY_OPENAI_TOOL_CALL_FORMAT_H_

#include <string>
#include <string_view>

#include "engine/text/template/chat_template.h"
#include "gateway/openai/openai_options.h"
#include "gateway/openai/tool_call_parser.h"

namespace headstart {

// Has the template render a conversation in which the assistant calls a tool: how it writes that call down is how the
// model was taught to write them. kNone when the template does not write it, or in a way that is not known.
ToolCallFormat DetectToolCallFormat(const ChatTemplate& chat_template);

// `choice`, or what the template shows.
ToolCallFormat ResolveToolCallFormat(ToolCallFormatChoice choice, const ChatTemplate& chat_template);

// A new id for a call, made of `random`: Mistral's template takes ids of nine letters and digits alone.
std::string ToolCallId(ToolCallFormat format, uint64_t random);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_OPENAI_TOOL_CALL_FORMAT_H_
