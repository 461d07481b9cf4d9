#include "engine/text/internal/json_view.h"

#include <limits>

#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace headstart {
namespace {

const nlohmann::json& Null() {
  static const nlohmann::json null;
  return null;
}

std::string Join(std::string_view path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

}  // namespace

JsonView JsonView::operator[](std::string_view key) const {
  const auto it = value_->is_object() ? value_->find(std::string(key)) : value_->end();
  return JsonView(it == value_->end() ? Null() : *it, Join(path_, key), *status_);
}

bool JsonView::is_null() const { return value_->is_null(); }
bool JsonView::is_string() const { return value_->is_string(); }
bool JsonView::is_array() const { return value_->is_array(); }
bool JsonView::is_object() const { return value_->is_object(); }

std::string JsonView::String() const {
  if (value_->is_string()) return value_->get<std::string>();
  Expected("a string");
  return "";
}

int64_t JsonView::Integer() const {
  if (value_->is_number_integer()) {
    const auto number = value_->get<int64_t>();
    if (number >= 0 && number <= std::numeric_limits<int32_t>::max()) return number;
  }
  Expected("a whole number from 0 to 2147483647");
  return 0;
}

std::vector<JsonView> JsonView::Array() const {
  std::vector<JsonView> items;
  if (!value_->is_array()) {
    Expected("an array");
    return items;
  }
  items.reserve(value_->size());
  for (const nlohmann::json& item : *value_) {
    items.emplace_back(item, fmt::format("{}[{}]", path_, items.size()), *status_);
  }
  return items;
}

std::vector<std::pair<std::string, JsonView>> JsonView::Object() const {
  std::vector<std::pair<std::string, JsonView>> fields;
  if (!value_->is_object()) {
    Expected("an object");
    return fields;
  }
  fields.reserve(value_->size());
  for (const auto& [key, value] : value_->items()) {
    fields.emplace_back(key, JsonView(value, Join(path_, key), *status_));
  }
  return fields;
}

std::string JsonView::StringOr(std::string_view otherwise) const {
  return is_null() ? std::string(otherwise) : String();
}

bool JsonView::BoolOr(bool otherwise) const {
  if (value_->is_boolean()) return value_->get<bool>();
  if (!is_null()) Expected("true or false");
  return otherwise;
}

std::vector<JsonView> JsonView::ArrayOrEmpty() const { return is_null() ? std::vector<JsonView>() : Array(); }

void JsonView::Invalid(std::string_view what) const {
  status_->Update(absl::InvalidArgumentError(fmt::format("{} {}", path_, what)));
}

void JsonView::Unimplemented(std::string_view what) const {
  status_->Update(absl::UnimplementedError(fmt::format("{} {}", path_, what)));
}

void JsonView::Expected(std::string_view what) const {
  Invalid(fmt::format("is {}, expected {}", value_->is_null() ? "missing" : value_->type_name(), what));
}

}  // namespace headstart
