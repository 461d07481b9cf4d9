#include "gateway/services/chat_json.h"

#include <cmath>
#include <map>
#include <string>
#include <string_view>

#include "engine/text/template/chat_template.h"
#include "fmt/format.h"
#include "gateway/errors/error_details.h"
#include "gateway/services/ordered_json.h"
#include "nlohmann/json.hpp"

namespace headstart {
namespace {

using Json = nlohmann::ordered_json;

absl::StatusOr<Json> ToolCallToJson(const v1::ToolCall& call, const std::string& field) {
  auto arguments =
      ParseOrderedObject(call.arguments_json().empty() ? "{}" : call.arguments_json(), field + ".arguments_json");
  if (!arguments.ok()) return arguments.status();
  Json result = {{"type", "function"}};
  if (!call.id().empty()) result["id"] = call.id();
  result["function"] = {{"name", call.name()}, {"arguments", *std::move(arguments)}};
  return result;
}

absl::StatusOr<Json> MessageToJson(const v1::Message& message, const std::string& field) {
  Json result = {{"role", message.role()}, {"content", message.content()}};
  if (!message.name().empty()) result["name"] = message.name();
  if (!message.tool_call_id().empty()) result["tool_call_id"] = message.tool_call_id();
  for (int i = 0; i < message.tool_calls_size(); ++i) {
    auto call = ToolCallToJson(message.tool_calls(i), fmt::format("{}.tool_calls[{}]", field, i));
    if (!call.ok()) return call.status();
    result["tool_calls"].push_back(*std::move(call));
  }
  return result;
}

absl::StatusOr<Json> ToolToJson(const v1::Tool& tool, const std::string& field) {
  if (tool.name().empty()) return InvalidField(field + ".name", "is empty; every tool needs a name");
  Json function = {{"name", tool.name()}};
  if (!tool.description().empty()) function["description"] = tool.description();
  if (!tool.parameters_json().empty()) {
    auto parameters = ParseOrderedObject(tool.parameters_json(), field + ".parameters_json");
    if (!parameters.ok()) return parameters.status();
    function["parameters"] = *std::move(parameters);
  }
  return Json{{"type", "function"}, {"function", std::move(function)}};
}

Json NumberToJson(double number) {
  constexpr double kExactIntegers = 9007199254740992.0;  // 2^53: beyond it a double does not hold every integer
  const bool integral = std::trunc(number) == number && std::abs(number) < kExactIntegers;
  return integral ? Json(static_cast<int64_t>(number)) : Json(number);
}

Json ValueToJson(const google::protobuf::Value& value);

Json ListToJson(const google::protobuf::ListValue& list) {
  Json result = Json::array();
  for (const auto& item : list.values()) result.push_back(ValueToJson(item));
  return result;
}

template <typename Fields>
Json FieldsToJson(const Fields& fields) {
  const std::map<std::string, google::protobuf::Value> sorted(fields.begin(), fields.end());
  Json result = Json::object();
  for (const auto& [name, value] : sorted) AppendMember(result, name, ValueToJson(value));
  return result;
}

Json ValueToJson(const google::protobuf::Value& value) {
  switch (value.kind_case()) {
    case google::protobuf::Value::kNumberValue:
      return NumberToJson(value.number_value());
    case google::protobuf::Value::kStringValue:
      return value.string_value();
    case google::protobuf::Value::kBoolValue:
      return value.bool_value();
    case google::protobuf::Value::kStructValue:
      return FieldsToJson(value.struct_value().fields());
    case google::protobuf::Value::kListValue:
      return ListToJson(value.list_value());
    case google::protobuf::Value::kNullValue:
    case google::protobuf::Value::KIND_NOT_SET:
      break;
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<Json> MessagesToJson(const v1::ChatInput& chat) {
  Json result = Json::array();
  for (int i = 0; i < chat.messages_size(); ++i) {
    auto message = MessageToJson(chat.messages(i), fmt::format("input.chat.messages[{}]", i));
    if (!message.ok()) return message.status();
    result.push_back(*std::move(message));
  }
  return result;
}

absl::StatusOr<Json> ToolsToJson(const v1::ChatInput& chat) {
  if (chat.tools().empty()) return Json(nullptr);
  Json result = Json::array();
  for (int i = 0; i < chat.tools_size(); ++i) {
    auto tool = ToolToJson(chat.tools(i), fmt::format("input.chat.tools[{}]", i));
    if (!tool.ok()) return tool.status();
    result.push_back(*std::move(tool));
  }
  return CanonicalTools(result);
}

Json VariablesToJson(const v1::ChatInput& chat) { return FieldsToJson(chat.template_variables()); }

}  // namespace headstart
