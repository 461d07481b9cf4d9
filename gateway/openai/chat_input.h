// The messages and tools of a chat completion as the gateway's own.
//
// Thread-safety: free functions over values.

#ifndef HEADSTART_GATEWAY_OPENAI_CHAT_INPUT_H_
#define HEADSTART_GATEWAY_OPENAI_CHAT_INPUT_H_

#include <functional>
#include <set>
#include <string>

#include "gateway/openai/body_fields.h"
#include "headstart/v1/input.pb.h"

namespace headstart {

// Reads messages, tools, tool_choice, response_format and chat_template_kwargs, and fails `fields` where they are wrong
// or ask for what is not done. The names of the tools that the model may call.
std::set<std::string, std::less<>> TakeChatInput(BodyFields& fields, v1::ChatInput& chat);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_OPENAI_CHAT_INPUT_H_
