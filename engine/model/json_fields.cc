#include "engine/model/json_fields.h"

#include <limits>
#include <utility>

#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace headstart {
namespace {

using nlohmann::json;

std::optional<int> ToInt(const json& value) {
  constexpr int64_t kMaxInt = std::numeric_limits<int>::max();
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(kMaxInt)) return std::nullopt;
  const auto number = value.get<int64_t>();
  if (number < -kMaxInt || number > kMaxInt) return std::nullopt;
  return static_cast<int>(number);
}

}  // namespace

// Documents may nest as deep as they are long. Parsing and destruction take no stack for that; copying, comparing and
// dumping do, so values of unknown kind are never copied.
absl::StatusOr<json> ParseJsonObject(std::string_view text, std::string_view path, size_t max_bytes) {
  if (text.size() > max_bytes) {
    return absl::InvalidArgumentError(fmt::format("{}: {} bytes; the limit is {}", path, text.size(), max_bytes));
  }
  json parsed;
  try {
    parsed = json::parse(text.begin(), text.end());
  } catch (const json::parse_error& error) {
    return absl::InvalidArgumentError(fmt::format("{}: not valid JSON at byte {}", path, error.byte));
  } catch (const json::exception&) {
    return absl::InvalidArgumentError(fmt::format("{}: has a number that is out of range", path));
  }
  if (!parsed.is_object()) return absl::InvalidArgumentError(fmt::format("{}: must be a JSON object", path));
  return absl::StatusOr<json>(std::move(parsed));
}

void JsonFields::Fail(std::string_view name, std::string_view what) {
  if (status_.ok()) status_ = absl::InvalidArgumentError(fmt::format("{}: field '{}' {}", where_, name, what));
}

const json* JsonFields::Find(std::string_view name) const {
  const auto found = object_.find(std::string(name));
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

const json* JsonFields::Require(std::string_view name, bool optional) {
  const json* value = Find(name);
  if (value == nullptr && !optional) Fail(name, "is missing");
  return value;
}

int JsonFields::Int(std::string_view name, std::optional<int> fallback) {
  const json* value = Require(name, fallback.has_value());
  if (value == nullptr) return fallback.value_or(0);
  const auto number = ToInt(*value);
  if (!number.has_value()) Fail(name, "must be an integer that fits 31 bits");
  return number.value_or(0);
}

double JsonFields::Number(std::string_view name, std::optional<double> fallback) {
  const json* value = Require(name, fallback.has_value());
  if (value == nullptr) return fallback.value_or(0);
  if (value->is_number()) return value->get<double>();
  Fail(name, "must be a number");
  return 0;
}

bool JsonFields::Bool(std::string_view name, bool fallback) {
  const json* value = Find(name);
  if (value == nullptr) return fallback;
  if (value->is_boolean()) return value->get<bool>();
  Fail(name, "must be true or false");
  return fallback;
}

std::string JsonFields::String(std::string_view name, std::optional<std::string_view> fallback) {
  const json* value = Require(name, fallback.has_value());
  if (value == nullptr) return std::string(fallback.value_or(""));
  if (value->is_string()) return value->get<std::string>();
  Fail(name, "must be a string");
  return "";
}

std::vector<int32_t> JsonFields::Ids(std::string_view name) {
  const json* value = Find(name);
  if (value == nullptr) return {};
  std::vector<int32_t> ids;
  const auto add = [&](const json& item) {
    const auto id = ToInt(item);
    if (!id.has_value()) Fail(name, "must be a token id or a list of them");
    if (id.value_or(-1) >= 0) ids.push_back(*id);
  };
  if (value->is_array()) {
    for (const json& item : *value) add(item);
  } else {
    add(*value);
  }
  return ids;
}

}  // namespace headstart
