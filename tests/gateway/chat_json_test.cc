#include "gateway/services/chat_json.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

v1::ChatInput ChatWithTool(const std::string& parameters) {
  v1::ChatInput chat;
  v1::Tool& tool = *chat.add_tools();
  tool.set_name("find");
  tool.set_description("Finds a thing");
  tool.set_parameters_json(parameters);
  return chat;
}

TEST(ChatJsonTest, KeysThatAreNotSetAreLeftOut) {
  v1::ChatInput chat;
  v1::Message& message = *chat.add_messages();
  message.set_role("user");
  message.set_content("hi");
  ASSERT_OK_AND_ASSIGN(const auto json, MessagesToJson(chat));
  EXPECT_EQ(json.dump(), R"([{"role":"user","content":"hi"}])");
}

TEST(ChatJsonTest, ToolCallsCarryTheirArgumentsAsObjects) {
  v1::ChatInput chat;
  v1::Message& message = *chat.add_messages();
  message.set_role("assistant");
  v1::ToolCall& call = *message.add_tool_calls();
  call.set_id("c1");
  call.set_name("find");
  call.set_arguments_json(R"({"thing":"lamp","count":2})");
  ASSERT_OK_AND_ASSIGN(const auto json, MessagesToJson(chat));
  EXPECT_EQ(json[0]["tool_calls"][0]["function"]["arguments"]["count"], 2);
  EXPECT_EQ(json[0]["tool_calls"][0]["id"], "c1");
}

// X2: callers who differ in the order of keys alone share the prompt.
TEST(ChatJsonTest, ToolsAreTheSameInAnyOrderOfKeys) {
  ASSERT_OK_AND_ASSIGN(const auto one, ToolsToJson(ChatWithTool(R"({"type":"object","properties":{"a":{},"b":{}}})")));
  ASSERT_OK_AND_ASSIGN(const auto two, ToolsToJson(ChatWithTool(R"({"properties":{"b":{},"a":{}},"type":"object"})")));
  EXPECT_EQ(one.dump(), two.dump());
}

TEST(ChatJsonTest, NoToolsAreNull) {
  ASSERT_OK_AND_ASSIGN(const auto tools, ToolsToJson({}));
  EXPECT_TRUE(tools.is_null());
}

TEST(ChatJsonTest, VariablesKeepTheirKinds) {
  v1::ChatInput chat;
  auto& variables = *chat.mutable_template_variables();
  variables["whole"].set_number_value(3);
  variables["part"].set_number_value(0.5);
  variables["flag"].set_bool_value(false);
  variables["none"].set_null_value(google::protobuf::NULL_VALUE);
  variables["list"].mutable_list_value()->add_values()->set_string_value("x");
  (*variables["map"].mutable_struct_value()->mutable_fields())["k"].set_number_value(-1);
  EXPECT_EQ(VariablesToJson(chat).dump(),
            R"({"flag":false,"list":["x"],"map":{"k":-1},"none":null,"part":0.5,"whole":3})");
}

}  // namespace
}  // namespace headstart::testing
