#include "engine/text/template/chat_template.h"

#include <utility>

#include "engine/text/template/context.h"
#include "engine/text/template/globals.h"
#include "engine/text/template/json_value.h"
#include "engine/text/template/parser.h"
#include "engine/text/template/template_error.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace headstart {
namespace {

using jinja::Block;
using jinja::Context;
using jinja::Value;
using Json = nlohmann::ordered_json;

// Ten times the longest template in use; parsing is linear, but names are looked up one by one.
constexpr size_t kMaxSourceBytes = size_t{1} << 20;

void SetVariables(Context& context, const Json* variables) {
  if (variables == nullptr || !variables->is_object()) return;
  for (const auto& [name, value] : variables->items()) context.Set(name, jinja::FromJson(value));
}

class ParsedTemplate : public ChatTemplate {
 public:
  ParsedTemplate(Block block, std::string bos_token, std::string eos_token, TemplateLimits limits)
      : block_(std::move(block)), bos_token_(std::move(bos_token)), eos_token_(std::move(eos_token)), limits_(limits) {}

  absl::StatusOr<RenderedPrompt> Render(const ChatInput& input) const override {
    Context context(limits_, input.now);
    try {
      SetNames(context, input);
      block_.Execute(context);
      return context.TakePrompt();
    } catch (const jinja::TemplateError& error) {
      return ToStatus(error, context.line());
    }
  }

 private:
  // As apply_chat_template does: what the request sets never replaces the messages.
  void SetNames(Context& context, const ChatInput& input) const {
    jinja::SetGlobals(context);
    context.Set("bos_token", Value::MakeString(bos_token_));
    context.Set("eos_token", Value::MakeString(eos_token_));
    context.Set("documents", Value());
    SetVariables(context, input.variables);
    context.Set("messages", input.messages == nullptr ? Value::MakeList({}) : jinja::MessagesFromJson(*input.messages));
    context.Set("tools", input.tools == nullptr ? Value() : jinja::FromJson(*input.tools));
    context.Set("add_generation_prompt", Value(input.add_generation_prompt));
  }

  // What raise_exception says is for the caller as it is.
  static absl::Status ToStatus(const jinja::TemplateError& error, int line) {
    if (error.code() == absl::StatusCode::kFailedPrecondition) return {error.code(), error.message()};
    return {error.code(), fmt::format("chat template, line {}: {}", line, error.message())};
  }

  const Block block_;
  const std::string bos_token_;
  const std::string eos_token_;
  const TemplateLimits limits_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<const ChatTemplate>> ChatTemplate::Parse(std::string_view source, std::string bos_token,
                                                                        std::string eos_token, TemplateLimits limits) {
  if (source.size() > kMaxSourceBytes) {
    return absl::InvalidArgumentError(
        fmt::format("chat template: its {} bytes exceed the limit of {}", source.size(), kMaxSourceBytes));
  }
  try {
    Block block = jinja::Parser(source, limits.max_depth).ParseTemplate();
    return std::make_unique<const ParsedTemplate>(std::move(block), std::move(bos_token), std::move(eos_token), limits);
  } catch (const jinja::SyntaxError& error) {
    return absl::InvalidArgumentError(fmt::format("chat template, line {}, column {}: {}", error.position.line,
                                                  error.position.column, error.message));
  }
}

std::string_view ChatTemplate::ChatMl() {
  return "{%- for message in messages %}"
         "{{- '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}"
         "{%- endfor %}"
         "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}";
}

}  // namespace headstart
