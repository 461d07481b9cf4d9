#include "gateway/yaml/yaml_fields.h"

#include <algorithm>
#include <exception>

#include "fmt/format.h"
#include "fmt/ranges.h"

namespace headstart {
namespace {

constexpr size_t kShownBytes = 80;

}  // namespace

std::string Shown(std::string_view text) {
  std::string shown(text.substr(0, kShownBytes));
  std::ranges::replace_if(
      shown, [](char c) { return c < ' ' || c > '~'; }, '?');
  return shown;
}

absl::StatusOr<YAML::Node> ParseYaml(const std::string& text) {
  try {
    return YAML::Load(text);
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(
        fmt::format("line {}: this is not YAML: {}", error.mark.line + 1, Shown(error.msg)));
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(fmt::format("this is not YAML: {}", Shown(error.what())));
  }
}

absl::Status ErrorAt(const YAML::Node& node, std::string_view what) {
  // What is not written, such as a missing value, has no line of its own.
  return absl::InvalidArgumentError(fmt::format("line {}: {}", std::max(node.Mark().line, 0) + 1, what));
}

absl::StatusOr<YamlFields> YamlFields::Of(const YAML::Node& node, std::string what,
                                          std::vector<std::string_view> known) {
  YamlFields result(node, std::move(what));
  if (node.IsNull()) return result;
  if (!node.IsMap()) return ErrorAt(node, fmt::format("{} is not a map of {}", result.what_, fmt::join(known, ", ")));
  for (const auto& field : node) {
    if (!field.first.IsScalar())
      return ErrorAt(field.first, fmt::format("{} has a field without a name", result.what_));
    const std::string& name = field.first.Scalar();
    if (!known.empty() && std::ranges::find(known, name) == known.end()) {
      return ErrorAt(field.first, fmt::format("{} has the unknown field \"{}\"; known are {}", result.what_,
                                              Shown(name), fmt::join(known, ", ")));
    }
    if (!result.fields_.emplace(name, field.second).second) {
      return ErrorAt(field.first, fmt::format("{} has \"{}\" twice", result.what_, Shown(name)));
    }
  }
  return result;
}

std::optional<YAML::Node> YamlFields::Find(std::string_view field) const {
  const auto found = fields_.find(field);
  if (found == fields_.end() || found->second.IsNull()) return std::nullopt;
  return found->second;
}

absl::StatusOr<std::string> YamlFields::Text(std::string_view field) const {
  const auto node = Find(field);
  if (!node) return ErrorAt(node_, fmt::format("{} has no {}", what_, field));
  if (!node->IsScalar()) return Wrong(field, "is not a single value");
  if (node->Scalar().empty()) return Wrong(field, "is empty");
  return node->Scalar();
}

absl::StatusOr<std::string> YamlFields::Text(std::string_view field, std::string_view otherwise) const {
  return Find(field) ? Text(field) : std::string(otherwise);
}

absl::StatusOr<std::vector<YAML::Node>> YamlFields::List(std::string_view field) const {
  const auto node = Find(field);
  std::vector<YAML::Node> list;
  if (!node) return list;
  if (!node->IsSequence()) return Wrong(field, "is not a list");
  list.reserve(node->size());
  for (const YAML::Node& item : *node) list.push_back(item);
  return list;
}

absl::Status YamlFields::Wrong(std::string_view field, std::string_view why) const {
  return ErrorAt(Find(field).value_or(node_), fmt::format("{}.{} {}", what_, field, why));
}

}  // namespace headstart
