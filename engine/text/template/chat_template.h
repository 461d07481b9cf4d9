// ChatTemplate: a model's own Jinja template, run in a sandbox: nothing but values in scope, with limits on steps,
// depth and output. Its output equals python3-jinja2's as Hugging Face sets it up (trim_blocks, lstrip_blocks, loop
// controls, `raise_exception`, `strftime_now`, `tojson` without HTML escapes, immutable sandbox).
//
// Thread-safety: immutable after Parse; any number of threads may render.
// Errors: INVALID_ARGUMENT with line and column for a template that does not parse, and with the line for messages that
// it cannot render (content that is missing, or null where it wants text); FAILED_PRECONDITION with the template's own
// words for raise_exception; RESOURCE_EXHAUSTED naming the limit that stopped it.

#ifndef HEADSTART_ENGINE_TEXT_TEMPLATE_CHAT_TEMPLATE_H_
#define HEADSTART_ENGINE_TEXT_TEMPLATE_CHAT_TEMPLATE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/text/tokenizer.h"
#include "nlohmann/json_fwd.hpp"

namespace headstart {

struct TemplateLimits {
  // Evaluated nodes, and the bytes and items they make (see context.h): a 10,000-message chat takes under a million. A
  // string may be as long as the output.
  int64_t max_steps = 5'000'000;
  int max_depth = 200;                  // nested expressions, blocks and macro calls
  int64_t max_output_bytes = 16 << 20;  // several times the largest context there is
};

// What a template sees. Values keep the order of their keys.
struct ChatInput {
  const nlohmann::ordered_json* messages = nullptr;  // array of {role, content, ...}
  const nlohmann::ordered_json* tools = nullptr;     // array, or null for none
  bool add_generation_prompt = true;
  const nlohmann::ordered_json* variables = nullptr;  // further names for the template, such as enable_thinking
  absl::Time now;                                     // for strftime_now; local time is UTC
};

// The prompt, and which of its bytes came from the caller rather than from the template: those never become control
// tokens.
struct RenderedPrompt {
  std::string text;
  std::vector<TextRange> from_caller;
};

class ChatTemplate {
 public:
  // `bos_token` and `eos_token` are the texts the template may name.
  static absl::StatusOr<std::unique_ptr<const ChatTemplate>> Parse(std::string_view source, std::string bos_token,
                                                                   std::string eos_token, TemplateLimits limits = {});

  // The fallback for models without a template.
  static std::string_view ChatMl();

  virtual ~ChatTemplate() = default;
  virtual absl::StatusOr<RenderedPrompt> Render(const ChatInput& input) const = 0;
};

// Tool definitions with the keys of every object in one fixed order (type, function, name, description, parameters
// first, the rest by name), so that two callers who differ in key order alone share a prefix.
nlohmann::ordered_json CanonicalTools(const nlohmann::ordered_json& tools);

// Whether rendering more messages extends what fewer rendered to, tried on a probe conversation. A template that does
// not costs its users the cache; the caller logs it.
bool KeepsPrefixes(const ChatTemplate& chat_template);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_TEXT_TEMPLATE_CHAT_TEMPLATE_H_
