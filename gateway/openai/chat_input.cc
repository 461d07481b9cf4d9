#include "gateway/openai/chat_input.h"

#include <utility>

#include "fmt/format.h"
#include "google/protobuf/struct.pb.h"
#include "nlohmann/json.hpp"

namespace headstart {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kTextAlone = "this server's models read text alone";

// One part of a message whose content is a list.
void AppendPart(BodyFields& message, const Json& part, const std::string& path, std::string& content) {
  BodyFields fields(part, path);
  const std::string type = fields.String("type").value_or("");
  if (type == "text" || type == "refusal") {
    auto text = fields.String(type);
    if (!text) fields.Fail(type, "is missing");
    content += text.value_or("");
  } else {
    fields.Fail("type", fmt::format("is \"{}\"; {}", type, kTextAlone));
  }
  message.Fail(fields.status());
}

std::string ContentOf(BodyFields& message) {
  const Json* content = message.Any("content");
  if (content == nullptr) return "";  // of an assistant's message that only calls tools
  if (content->is_string()) return content->get<std::string>();
  std::string text;
  if (content->is_array()) {
    for (size_t i = 0; i < content->size(); ++i) {
      AppendPart(message, (*content)[i], message.PathOf(fmt::format("content[{}]", i)), text);
    }
  } else {
    message.Fail("content", "is neither a string nor a list of parts");
  }
  return text;
}

// Text, as OpenAI writes them, or the object itself, as some clients do.
std::string ArgumentsOf(BodyFields& function) {
  const Json* arguments = function.Any("arguments");
  if (arguments == nullptr) return "";
  if (arguments->is_object()) return arguments->dump();
  return function.String("arguments").value_or("");
}

void TakeToolCall(BodyFields& message, const Json& value, const std::string& path, v1::ToolCall& call) {
  BodyFields fields(value, path);
  call.set_id(fields.String("id").value_or(""));
  const Json* object = fields.Object("function");
  if (object == nullptr) {
    fields.Fail("function", "is missing: functions are the only tools that this server knows");
  } else {
    BodyFields function(*object, fields.PathOf("function"));
    call.set_name(function.String("name").value_or(""));
    call.set_arguments_json(ArgumentsOf(function));
    fields.Fail(function.status());
  }
  message.Fail(fields.status());
}

// OpenAI's newer word for a system prompt, which chat templates do not know.
std::string RoleOf(BodyFields& message) {
  auto role = message.String("role");
  if (!role) message.Fail("role", "is missing; say who speaks, such as \"user\"");
  return role == "developer" ? "system" : role.value_or("");
}

void TakeMessage(BodyFields& fields, const Json& value, const std::string& path, v1::Message& message) {
  BodyFields object(value, path);
  message.set_role(RoleOf(object));
  message.set_content(ContentOf(object));
  message.set_name(object.String("name").value_or(""));
  message.set_tool_call_id(object.String("tool_call_id").value_or(""));
  object.Refuse("audio", kTextAlone);
  object.Refuse("function_call", "is out of date; write tool_calls");
  if (const Json* calls = object.List("tool_calls")) {
    for (const Json& call : *calls) {
      const std::string call_path = object.PathOf(fmt::format("tool_calls[{}]", message.tool_calls_size()));
      TakeToolCall(object, call, call_path, *message.add_tool_calls());
    }
  }
  fields.Fail(object.status());
}

void TakeTool(BodyFields& fields, const Json& value, const std::string& path, v1::Tool& tool) {
  BodyFields object(value, path);
  const std::string type = object.String("type").value_or("function");
  if (type != "function") {
    object.Fail("type", fmt::format("is \"{}\"; functions are the only tools that this server knows", type));
  }
  if (const Json* described = object.Object("function")) {
    BodyFields function(*described, object.PathOf("function"));
    tool.set_name(function.String("name").value_or(""));
    if (tool.name().empty()) function.Fail("name", "is missing");
    tool.set_description(function.String("description").value_or(""));
    if (const Json* parameters = function.Object("parameters")) tool.set_parameters_json(parameters->dump());
    object.Fail(function.status());
  } else {
    object.Fail("function", "is missing");
  }
  fields.Fail(object.status());
}

// Whether the model may call tools.
bool TakeToolChoice(BodyFields& fields) {
  const Json* choice = fields.Any("tool_choice");
  if (choice == nullptr || *choice == "auto") return true;
  if (*choice != "none") {
    fields.Fail("tool_choice",
                "asks for a call that must be made; this server leaves that to the model: \"auto\" or \"none\"");
  }
  return false;
}

std::set<std::string, std::less<>> TakeTools(BodyFields& fields, v1::ChatInput& chat) {
  std::set<std::string, std::less<>> names;
  const bool may_call = TakeToolChoice(fields);
  const Json* tools = fields.List("tools");
  if (tools == nullptr || !may_call) return names;
  for (const Json& value : *tools) {
    v1::Tool& tool = *chat.add_tools();
    TakeTool(fields, value, fmt::format("tools[{}]", chat.tools_size() - 1), tool);
    names.insert(tool.name());
  }
  return names;
}

// Not through protobuf's own JSON, which counts two levels for each of ours and gives up before the body's limit.
void SetValue(const Json& json, google::protobuf::Value& value) {
  if (json.is_object()) {
    auto& members = *value.mutable_struct_value()->mutable_fields();
    for (const auto& [name, member] : json.items()) SetValue(member, members[name]);
  } else if (json.is_array()) {
    auto& list = *value.mutable_list_value();
    for (const Json& item : json) SetValue(item, *list.add_values());
  } else if (json.is_string()) {
    value.set_string_value(json.get<std::string>());
  } else if (json.is_number()) {
    value.set_number_value(json.get<double>());
  } else if (json.is_boolean()) {
    value.set_bool_value(json.get<bool>());
  } else {
    value.set_null_value(google::protobuf::NULL_VALUE);
  }
}

void TakeVariables(BodyFields& fields, v1::ChatInput& chat) {
  if (auto effort = fields.String("reasoning_effort")) {
    (*chat.mutable_template_variables())["reasoning_effort"].set_string_value(*effort);
  }
  const Json* variables = fields.Object("chat_template_kwargs");
  if (variables == nullptr) return;
  for (const auto& [name, value] : variables->items()) {
    SetValue(value, (*chat.mutable_template_variables())[name]);
  }
}

void CheckOutputKind(BodyFields& fields) {
  if (const Json* format = fields.Object("response_format")) {
    BodyFields object(*format, "response_format");
    const std::string type = object.String("type").value_or("text");
    if (type != "text") object.Fail("type", fmt::format("is \"{}\"; this server writes plain text alone", type));
    fields.Fail(object.status());
  }
  const Json* modalities = fields.List("modalities");
  if (modalities != nullptr && *modalities != Json{"text"}) fields.Fail("modalities", "has more than \"text\"");
  for (const auto* name : {"functions", "function_call"}) fields.Refuse(name, "is out of date; write tools");
  fields.Refuse("audio", kTextAlone);
  fields.Refuse("web_search_options", "is not something that this server does");
}

}  // namespace

std::set<std::string, std::less<>> TakeChatInput(BodyFields& fields, v1::ChatInput& chat) {
  const Json* messages = fields.List("messages");
  if (messages == nullptr) {
    fields.Fail("messages", "is missing; at least one message is needed");
    return {};
  }
  for (const Json& value : *messages) {
    const std::string path = fmt::format("messages[{}]", chat.messages_size());
    TakeMessage(fields, value, path, *chat.add_messages());
    if (!fields.status().ok()) return {};
  }
  CheckOutputKind(fields);
  TakeVariables(fields, chat);
  return TakeTools(fields, chat);
}

}  // namespace headstart
