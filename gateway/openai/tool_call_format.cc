#include "gateway/openai/tool_call_format.h"

#include <algorithm>

#include "absl/time/time.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace headstart {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kProbe = "probe_function";

// What the template makes of one more message: a call.
std::string RenderCall(const ChatTemplate& chat_template) {
  const Json tools = {{{"type", "function"},
                       {"function",
                        {{"name", kProbe},
                         {"description", "probe"},
                         {"parameters", {{"type", "object"}, {"properties", Json::object()}}}}}}};
  Json messages = {{{"role", "user"}, {"content", "probe"}}};
  const auto render = [&] {
    const auto prompt = chat_template.Render({.messages = &messages,
                                              .tools = &tools,
                                              .add_generation_prompt = false,
                                              .variables = nullptr,
                                              .now = absl::UnixEpoch()});
    return prompt.ok() ? prompt->text : "";
  };
  const std::string before = render();
  const Json call = {
      {"id", "probe0001"}, {"type", "function"}, {"function", {{"name", kProbe}, {"arguments", {{"probe", "probe"}}}}}};
  messages.push_back({{"role", "assistant"}, {"content", ""}, {"tool_calls", {call}}});
  const std::string after = render();
  const auto differs = std::mismatch(before.begin(), before.end(), after.begin(), after.end());
  return {differs.second, after.end()};
}

}  // namespace

ToolCallFormat DetectToolCallFormat(const ChatTemplate& chat_template) {
  const std::string call = RenderCall(chat_template);
  const auto has = [&call](std::string_view text) { return call.find(text) != std::string::npos; };
  if (!has(kProbe)) return ToolCallFormat::kNone;
  if (has("[TOOL_CALLS]")) return has("\"arguments\"") ? ToolCallFormat::kMistral : ToolCallFormat::kNone;
  if (has("<tool_call>")) return has("\"arguments\"") ? ToolCallFormat::kHermes : ToolCallFormat::kNone;
  return has("\"parameters\"") ? ToolCallFormat::kLlama3 : ToolCallFormat::kNone;
}

ToolCallFormat ResolveToolCallFormat(ToolCallFormatChoice choice, const ChatTemplate& chat_template) {
  switch (choice) {
    case ToolCallFormatChoice::kAuto:
      return DetectToolCallFormat(chat_template);
    case ToolCallFormatChoice::kHermes:
      return ToolCallFormat::kHermes;
    case ToolCallFormatChoice::kLlama3:
      return ToolCallFormat::kLlama3;
    case ToolCallFormatChoice::kMistral:
      return ToolCallFormat::kMistral;
    case ToolCallFormatChoice::kNone:
      break;
  }
  return ToolCallFormat::kNone;
}

std::string ToolCallId(ToolCallFormat format, uint64_t random) {
  if (format == ToolCallFormat::kMistral) return fmt::format("{:016x}", random).substr(0, 9);
  return fmt::format("call_{:016x}", random);
}

}  // namespace headstart
