#include "engine/text/template/json_value.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "engine/text/template/template_error.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace headstart::jinja {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 11> kTrustedRoles = {"system",    "user",        "assistant",  "tool",
                                                            "developer", "function",    "ipython",    "tool_response",
                                                            "model",     "observation", "environment"};

Text CallerText(const Json& json) { return Text::FromCaller(json.get_ref<const std::string&>()); }

Value Convert(const Json& json, int level);

Value ConvertObject(const Json& json, int level) {
  std::vector<Dict::Entry> entries;
  entries.reserve(json.size());
  for (const auto& [key, value] : json.items())
    entries.emplace_back(Value(Text::FromCaller(key)), Convert(value, level + 1));
  return Value(std::make_shared<const Dict>(std::move(entries)));
}

Value ConvertArray(const Json& json, int level) {
  List items;
  items.reserve(json.size());
  for (const Json& item : json) items.push_back(Convert(item, level + 1));
  return Value::MakeList(std::move(items));
}

Value Convert(const Json& json, int level) {
  if (level > kMaxNesting) FailLimit(fmt::format("the input nests deeper than {} levels", kMaxNesting));
  switch (json.type()) {
    case Json::value_t::boolean:
      return Value(json.get<bool>());
    case Json::value_t::number_integer:
      return Value(Int{json.get<int64_t>()});
    case Json::value_t::number_unsigned:
      return Value(Int{json.get<uint64_t>()});
    case Json::value_t::number_float:
      return Value(json.get<double>());
    case Json::value_t::string:
      return Value(CallerText(json));
    case Json::value_t::array:
      return ConvertArray(json, level);
    case Json::value_t::object:
      return ConvertObject(json, level);
    default:
      return Value();
  }
}

Value RoleValue(const Json& role) {
  if (!role.is_string()) return Convert(role, 1);
  const auto& word = role.get_ref<const std::string&>();
  const bool trusted = std::find(kTrustedRoles.begin(), kTrustedRoles.end(), word) != kTrustedRoles.end();
  return Value(Text(word, trusted ? Origin::kTemplate : Origin::kCaller));
}

Value ConvertMessage(const Json& message) {
  if (!message.is_object()) return Convert(message, 1);
  std::vector<Dict::Entry> entries;
  for (const auto& [key, value] : message.items()) {
    entries.emplace_back(Value(Text::FromCaller(key)), key == "role" ? RoleValue(value) : Convert(value, 2));
  }
  return Value(std::make_shared<const Dict>(std::move(entries)));
}

}  // namespace

Value FromJson(const Json& json) { return Convert(json, 0); }

Value MessagesFromJson(const Json& messages) {
  if (!messages.is_array()) return FromJson(messages);
  List items;
  items.reserve(messages.size());
  for (const Json& message : messages) items.push_back(ConvertMessage(message));
  return Value::MakeList(std::move(items));
}

}  // namespace headstart::jinja
