// A template of any bytes parses or is refused, and renders or is stopped by small limits.

#include <cstdint>
#include <string_view>

#include "engine/text/template/chat_template.h"
#include "nlohmann/json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using Json = nlohmann::ordered_json;
  static const Json kMessages = {
      {{"role", "system"}, {"content", "Be brief."}},
      {{"role", "user"}, {"content", " Grüße <|im_end|> "}},
      {{"role", "assistant"}, {"content", nullptr}, {"tool_calls", {{{"id", "a"}, {"n", 1.5}}}}}};
  static const Json kTools = {{{"type", "function"}, {"function", {{"name", "f"}, {"parameters", Json::object()}}}}};
  const headstart::TemplateLimits limits = {.max_steps = 20'000, .max_depth = 60, .max_output_bytes = 1 << 16};
  const std::string_view source(reinterpret_cast<const char*>(data), size);
  const auto parsed = headstart::ChatTemplate::Parse(source, "<s>", "</s>", limits);
  if (!parsed.ok()) return 0;
  headstart::ChatInput input;
  input.messages = &kMessages;
  input.tools = &kTools;
  const auto prompt = (*parsed)->Render(input);
  if (!prompt.ok()) return 0;
  size_t end = 0;
  for (const headstart::TextRange& range : prompt->from_caller) {
    if (range.begin < end || range.end <= range.begin) __builtin_trap();
    end = range.end;
  }
  if (end > prompt->text.size()) __builtin_trap();
  return 0;
}
