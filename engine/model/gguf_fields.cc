#include "engine/model/gguf_fields.h"

#include <cstring>
#include <limits>

#include "engine/model/byte_cursor.h"
#include "fmt/format.h"

namespace headstart {
namespace {

constexpr int64_t kMaxInt = std::numeric_limits<int>::max();

// The value as an int; nothing when it is no integer or does not fit.
std::optional<int> ToInt(const GgufValue& value) {
  if (const auto* number = std::get_if<uint64_t>(&value); number != nullptr && *number <= kMaxInt) {
    return static_cast<int>(*number);
  }
  if (const auto* number = std::get_if<int64_t>(&value);
      number != nullptr && *number >= -kMaxInt && *number <= kMaxInt) {
    return static_cast<int>(*number);
  }
  return std::nullopt;
}

// Elements of a fixed size that lie in the file as they do in memory.
template <typename T>
std::vector<T> CopyElements(const GgufArray* array) {
  std::vector<T> elements(array == nullptr ? 0 : array->count);
  if (!elements.empty()) std::memcpy(elements.data(), array->bytes.data(), array->bytes.size());
  return elements;
}

}  // namespace

void GgufFields::Fail(std::string_view key, std::string_view what) {
  if (status_.ok()) status_ = absl::InvalidArgumentError(fmt::format("{}: metadata '{}' {}", file_.path(), key, what));
}

const GgufValue* GgufFields::Require(std::string_view key, bool optional) {
  const GgufValue* value = file_.Find(key);
  if (value == nullptr && !optional) Fail(key, "is missing");
  return value;
}

int GgufFields::Int(std::string_view key, std::optional<int> fallback) {
  const GgufValue* value = Require(key, fallback.has_value());
  if (value == nullptr) return fallback.value_or(0);
  const auto number = ToInt(*value);
  if (!number.has_value()) Fail(key, "must be an integer that fits 31 bits");
  return number.value_or(0);
}

double GgufFields::Number(std::string_view key, std::optional<double> fallback) {
  const GgufValue* value = Require(key, fallback.has_value());
  if (value == nullptr) return fallback.value_or(0);
  if (const auto* number = std::get_if<double>(value)) return *number;
  if (const auto number = ToInt(*value)) return *number;
  Fail(key, "must be a number");
  return 0;
}

bool GgufFields::Bool(std::string_view key, bool fallback) {
  const GgufValue* value = file_.Find(key);
  if (value == nullptr) return fallback;
  if (const auto* flag = std::get_if<bool>(value)) return *flag;
  Fail(key, "must be a bool");
  return fallback;
}

std::string GgufFields::String(std::string_view key, std::optional<std::string_view> fallback) {
  const GgufValue* value = Require(key, fallback.has_value());
  if (value == nullptr) return std::string(fallback.value_or(""));
  if (const auto* text = std::get_if<std::string_view>(value)) return std::string(*text);
  Fail(key, "must be a string");
  return "";
}

std::optional<int32_t> GgufFields::Id(std::string_view key) {
  const GgufValue* value = file_.Find(key);
  if (value == nullptr) return std::nullopt;
  // Writers spell "none" as the largest number of its type.
  if (const auto* number = std::get_if<uint64_t>(value); number != nullptr && *number == 0xffffffff)
    return std::nullopt;
  const auto id = ToInt(*value);
  if (!id.has_value()) Fail(key, "must be a token id");
  if (id.has_value() && *id < 0) return std::nullopt;
  return id;
}

const GgufArray* GgufFields::Array(std::string_view key, GgufType element, std::string_view what) {
  const GgufValue* value = file_.Find(key);
  if (value == nullptr) return nullptr;
  const auto* array = std::get_if<GgufArray>(value);
  if (array != nullptr && array->element == element) return array;
  Fail(key, what);
  return nullptr;
}

std::vector<std::string> GgufFields::Strings(std::string_view key) {
  const GgufArray* array = Array(key, GgufType::kString, "must be an array of strings");
  if (array == nullptr) return {};
  std::vector<std::string> strings;
  strings.reserve(array->count);
  ByteCursor cursor(array->bytes);
  for (uint64_t i = 0; i < array->count; ++i) strings.emplace_back(cursor.ReadString());
  return strings;
}

std::vector<float> GgufFields::Floats(std::string_view key) {
  return CopyElements<float>(Array(key, GgufType::kFloat32, "must be an array of 32-bit floats"));
}

std::vector<int32_t> GgufFields::Ints(std::string_view key) {
  return CopyElements<int32_t>(Array(key, GgufType::kInt32, "must be an array of 32-bit integers"));
}

}  // namespace headstart
