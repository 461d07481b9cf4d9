#include "gateway/services/chat_json.h"

#include "fmt/format.h"
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

// As Python's and nlohmann's parsers have it.
TEST(ChatJsonTest, OfAKeyThatIsThereTwiceTheFirstPlaceAndTheLastValueStay) {
  v1::ChatInput chat;
  v1::ToolCall& call = *chat.add_messages()->add_tool_calls();
  call.set_arguments_json(R"({"b":1,"a":{"x":1,"x":[],"y":2},"b":{"z":3},"c":4,"b":5})");
  ASSERT_OK_AND_ASSIGN(const auto json, MessagesToJson(chat));
  EXPECT_EQ(json[0]["tool_calls"][0]["function"]["arguments"].dump(), R"({"b":5,"a":{"x":[],"y":2},"c":4})");
}

TEST(ChatJsonTest, ReadsWhatNlohmannReads) {
  for (const char* text : {R"({})", R"({"":[]})", R"({"a":[1,-2,18446744073709551615,0.5,true,false,null,"\u00e9\n"]})",
                           R"({"b":{"d":{},"c":[[],[{}]]},"a":[{"x":1},{"x":2}]})"}) {
    v1::ChatInput chat;
    chat.add_messages()->add_tool_calls()->set_arguments_json(text);
    ASSERT_OK_AND_ASSIGN(const auto json, MessagesToJson(chat));
    EXPECT_EQ(json[0]["tool_calls"][0]["function"]["arguments"], nlohmann::ordered_json::parse(text));
  }
  for (const char* text : {"{", "{}x", "{\"a\"}", "{\"a\":1,}", "{\"a\":\"\xff\"}", "[]", "1", "null", "\"a\"", " "}) {
    v1::ChatInput chat;
    chat.add_messages()->add_tool_calls()->set_arguments_json(text);
    EXPECT_EQ(MessagesToJson(chat).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(ChatJsonTest, TakesSixtyFourLevelsAndNoMore) {
  const auto nested = [](int levels) {
    std::string text;
    for (int i = 1; i < levels; ++i) text += i % 2 == 0 ? "[" : "{\"a\":";
    if (levels % 2 == 0) text += "[";
    text += levels % 2 == 0 ? "]" : "{}";
    for (int i = levels - 1; i > 0; --i) text += i % 2 == 0 ? "]" : "}";
    return text;
  };
  EXPECT_OK(ToolsToJson(ChatWithTool(nested(64))));
  EXPECT_EQ(ToolsToJson(ChatWithTool(nested(65))).status().code(), absl::StatusCode::kInvalidArgument);
}

// 400,000 keys, some 5 MiB as a request may send them: were each looked for among those before it, this would
// take half an hour, not a second.
TEST(ChatJsonTest, TheTimeForManyKeysGrowsWithTheirNumberAlone) {
  constexpr int kKeys = 400'000;
  std::string object = "{";
  for (int i = kKeys; i > 0; --i) object += fmt::format("{}\"{:x}\":{}", i == kKeys ? "" : ",", i, i);
  object += "}";
  ASSERT_OK_AND_ASSIGN(const auto tools, ToolsToJson(ChatWithTool(object)));
  EXPECT_EQ(tools[0]["function"]["parameters"].size(), size_t{kKeys});
  v1::ChatInput chat;
  chat.add_messages()->add_tool_calls()->set_arguments_json(object);
  EXPECT_OK(MessagesToJson(chat));
  auto& fields = *(*chat.mutable_template_variables())["v"].mutable_struct_value()->mutable_fields();
  for (int i = 0; i < kKeys; ++i) fields[fmt::format("{:x}", i)].set_bool_value(true);
  EXPECT_EQ(VariablesToJson(chat)["v"].size(), size_t{kKeys});
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
