// OpenAiOptions: what of the OpenAI-compatible API an operator decides.
//
// Thread-safety: plain values.

#ifndef HEADSTART_GATEWAY_OPENAI_OPENAI_OPTIONS_H_
#define HEADSTART_GATEWAY_OPENAI_OPENAI_OPTIONS_H_

namespace headstart {

// What --tool-call-format says.
enum class ToolCallFormatChoice { kAuto, kHermes, kLlama3, kMistral, kNone };

struct OpenAiOptions {
  int max_choices = 8;  // the most that n may be
  ToolCallFormatChoice tool_call_format = ToolCallFormatChoice::kAuto;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_OPENAI_OPENAI_OPTIONS_H_
