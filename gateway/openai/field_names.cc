#include "gateway/openai/field_names.h"

#include <utility>

namespace headstart {
namespace {

constexpr std::pair<std::string_view, std::string_view> kEverywhere[] = {
    {"input.chat", "messages"},
    {"input.chat.messages", "messages"},
    {"input.chat.tools", "tools"},
    {"input.chat.template_variables", "chat_template_kwargs"},
    {"input.text.text", "prompt"},
    {"input.tokens.ids", "prompt"},
    {"sampling", ""},
    {"labels", "metadata"},
    {"cache.ttl", "cache.ttl_seconds"},
};

// What lies in a function, there.
constexpr std::pair<std::string_view, std::string_view> kEndings[] = {
    {".arguments_json", ".function.arguments"},
    {".parameters_json", ".function.parameters"},
};

bool LiesIn(std::string_view field, std::string_view parent) {
  if (!field.starts_with(parent)) return false;
  const std::string_view rest = field.substr(parent.size());
  return rest.empty() || rest.front() == '.' || rest.front() == '[';
}

std::string WithTheirEnding(std::string field) {
  for (const auto& [ours, theirs] : kEndings) {
    if (field.ends_with(ours)) return field.replace(field.size() - ours.size(), ours.size(), theirs);
  }
  return field;
}

}  // namespace

FieldNames::FieldNames() {
  for (const auto& [ours, theirs] : kEverywhere) Set(ours, theirs);
}

void FieldNames::Set(std::string_view ours, std::string_view theirs) {
  names_.insert_or_assign(std::string(ours), std::string(theirs));
}

// The longest name that fits says most.
std::string FieldNames::Of(std::string_view field) const {
  const std::pair<const std::string, std::string>* best = nullptr;
  for (const auto& name : names_) {
    if (LiesIn(field, name.first) && (best == nullptr || name.first.size() > best->first.size())) best = &name;
  }
  if (best == nullptr) return std::string(field);
  std::string_view rest = field.substr(best->first.size());
  if (best->second.empty() && rest.starts_with('.')) rest.remove_prefix(1);
  return WithTheirEnding(best->second + std::string(rest));
}

}  // namespace headstart
