#include "gateway/openai/body_fields.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "gateway/errors/error_details.h"
#include "nlohmann/json.hpp"

namespace headstart {

using Json = nlohmann::json;

BodyFields::BodyFields(const Json& object, std::string path) : object_(object), path_(std::move(path)) {
  if (!object.is_object()) status_ = InvalidField(path_.empty() ? "body" : path_, "is not a JSON object");
}

std::string BodyFields::PathOf(std::string_view name) const {
  return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
}

void BodyFields::Fail(std::string_view name, std::string_view why) { status_.Update(InvalidField(PathOf(name), why)); }

const Json* BodyFields::Any(std::string_view name) const {
  if (!object_.is_object()) return nullptr;
  const auto found = object_.find(std::string(name));
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

void BodyFields::Refuse(std::string_view name, std::string_view why) {
  if (Any(name) != nullptr) Fail(name, why);
}

void BodyFields::TakeOnly(std::initializer_list<std::string_view> names) {
  if (!object_.is_object()) return;
  for (const auto& [name, value] : object_.items()) {
    if (std::ranges::find(names, name) != names.end()) continue;
    return status_.Update(InvalidField(path_, fmt::format("has \"{}\"; it takes {}", name, fmt::join(names, ", "))));
  }
}

std::optional<double> BodyFields::Number(std::string_view name) {
  const Json* value = Any(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_number()) return value->get<double>();
  Fail(name, "is not a number");
  return std::nullopt;
}

// 5.0 is an integer too: some languages know one kind of number alone.
std::optional<int64_t> BodyFields::Integer(std::string_view name) {
  const auto number = Number(name);
  if (!number) return std::nullopt;
  const Json& value = *Any(name);
  const bool too_large =
      value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{std::numeric_limits<int64_t>::max()};
  if (value.is_number_integer() && !too_large) return value.get<int64_t>();
  constexpr double kExactIntegers = 9007199254740992.0;  // 2^53
  const bool integral = !value.is_number_integer() && std::trunc(*number) == *number;
  if (integral && std::abs(*number) <= kExactIntegers) return static_cast<int64_t>(*number);
  Fail(name, "is not an integer of 64 bits");
  return std::nullopt;
}

std::optional<bool> BodyFields::Bool(std::string_view name) {
  const Json* value = Any(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_boolean()) return value->get<bool>();
  Fail(name, "is neither true nor false");
  return std::nullopt;
}

std::optional<std::string> BodyFields::String(std::string_view name) {
  const Json* value = Any(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return value->get<std::string>();
  Fail(name, "is not a string");
  return std::nullopt;
}

const Json* BodyFields::Object(std::string_view name) {
  const Json* value = Any(name);
  if (value == nullptr || value->is_object()) return value;
  Fail(name, "is not an object");
  return nullptr;
}

const Json* BodyFields::List(std::string_view name) {
  const Json* value = Any(name);
  if (value == nullptr || value->is_array()) return value;
  Fail(name, "is not a list");
  return nullptr;
}

}  // namespace headstart
