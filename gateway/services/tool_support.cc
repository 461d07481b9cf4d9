#include "gateway/services/tool_support.h"

#include <string>

#include "absl/time/time.h"
#include "nlohmann/json.hpp"

namespace headstart {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kProbe = "probe_function";

enum class Outcome { kWritten, kPassedOver, kRefused };

Outcome WriteTool(const ChatTemplate& chat_template, const Json& messages) {
  const Json tools = {{{"type", "function"},
                       {"function",
                        {{"name", kProbe},
                         {"description", "probe"},
                         {"parameters", {{"type", "object"}, {"properties", Json::object()}}}}}}};
  const auto prompt = chat_template.Render({.messages = &messages,
                                            .tools = &tools,
                                            .add_generation_prompt = true,
                                            .variables = nullptr,
                                            .now = absl::UnixEpoch()});
  if (!prompt.ok()) return Outcome::kRefused;
  return prompt->text.find(kProbe) == std::string::npos ? Outcome::kPassedOver : Outcome::kWritten;
}

}  // namespace

// With a system prompt and without: some templates know tools in one of them alone.
bool TakesTools(const ChatTemplate& chat_template) {
  const Json user = {{"role", "user"}, {"content", "probe"}};
  const Json system = {{"role", "system"}, {"content", "probe"}};
  const Outcome alone = WriteTool(chat_template, Json::array({user}));
  const Outcome after_system = WriteTool(chat_template, Json::array({system, user}));
  if (alone == Outcome::kWritten || after_system == Outcome::kWritten) return true;
  return alone == Outcome::kRefused && after_system == Outcome::kRefused;
}

}  // namespace headstart
