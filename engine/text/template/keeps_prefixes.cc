// KeepsPrefixes of chat_template.h.

#include <algorithm>

#include "engine/text/template/chat_template.h"
#include "nlohmann/json.hpp"

namespace headstart {
namespace {

using Json = nlohmann::ordered_json;

// Two turns, as most templates treat the last turn in a way of its own.
Json Probe() {
  return Json::array({{{"role", "user"}, {"content", "What is the capital of France?"}},
                      {{"role", "assistant"}, {"content", "Paris."}},
                      {{"role", "user"}, {"content", "And of Italy?"}},
                      {{"role", "assistant"}, {"content", "Rome."}},
                      {{"role", "user"}, {"content", "Thank you."}}});
}

absl::StatusOr<RenderedPrompt> RenderFirst(const ChatTemplate& chat_template, const Json& messages, size_t count,
                                           bool prompt) {
  Json first = Json::array();
  std::copy_n(messages.begin(), count, std::back_inserter(first));
  ChatInput input;
  input.messages = &first;
  input.add_generation_prompt = prompt;
  input.now = absl::UnixEpoch();
  return chat_template.Render(input);
}

}  // namespace

bool KeepsPrefixes(const ChatTemplate& chat_template) {
  const Json messages = Probe();
  std::string before;
  for (size_t count = 1; count <= messages.size(); ++count) {
    const auto rendered = RenderFirst(chat_template, messages, count, false);
    if (!rendered.ok() || !rendered->text.starts_with(before)) return false;
    before = rendered->text;
    const bool answers_next = messages[count - 1]["role"] == "user";
    if (!answers_next) continue;
    // What the model continues from must be the beginning of what comes back as history.
    const auto prompt = RenderFirst(chat_template, messages, count, true);
    if (!prompt.ok()) return false;
    before = prompt->text;
  }
  return true;
}

}  // namespace headstart
