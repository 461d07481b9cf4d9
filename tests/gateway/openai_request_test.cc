// Bodies of the OpenAI API, and what becomes of their fields.

#include "gateway/openai/openai_request.h"

#include "fmt/format.h"
#include "gateway/openai/openai_errors.h"
#include "gateway/services/chat_json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace headstart::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kMaxChoices = 8;

// A chat with `fields` besides its messages.
absl::StatusOr<OpenAiRequest> Chat(const std::string& fields) {
  const std::string body =
      R"({"model":"demo","messages":[{"role":"user","content":"Hi"}])" + (fields.empty() ? "" : "," + fields) + "}";
  return ParseOpenAiRequest(OpenAiApi::kChatCompletions, body, kMaxChoices);
}

absl::StatusOr<OpenAiRequest> Messages(const std::string& messages) {
  return ParseOpenAiRequest(OpenAiApi::kChatCompletions, R"({"messages":)" + messages + "}", kMaxChoices);
}

absl::StatusOr<OpenAiRequest> Completion(const std::string& fields) {
  return ParseOpenAiRequest(OpenAiApi::kCompletions, "{" + fields + "}", kMaxChoices);
}

std::string ParamOf(const absl::Status& status) {
  const auto json = nlohmann::json::parse(OpenAiErrorJson(status));
  return json["error"]["param"].is_null() ? "" : json["error"]["param"].get<std::string>();
}

struct BadField {
  std::string json;
  std::string param;
};

TEST(OpenAiRequestTest, SamplingAndLimits) {
  const auto request =
      Chat(R"("temperature":0.5,"top_p":0.9,"top_k":40,"min_p":0.1,"repetition_penalty":1.1,"frequency_penalty":0.2,)"
           R"("presence_penalty":-0.3,"seed":-1,"max_tokens":7,"max_completion_tokens":9,"stop":["a","b"],"n":3,)"
           R"("ignore_eos":true,"logprobs":true,"top_logprobs":4)");
  ASSERT_TRUE(request.ok()) << request.status();
  const v1::Sampling& sampling = request->generate.sampling();
  EXPECT_FLOAT_EQ(sampling.temperature(), 0.5f);
  EXPECT_FLOAT_EQ(sampling.top_p(), 0.9f);
  EXPECT_EQ(sampling.top_k(), 40);
  EXPECT_FLOAT_EQ(sampling.min_p(), 0.1f);
  EXPECT_FLOAT_EQ(sampling.repetition_penalty(), 1.1f);
  EXPECT_FLOAT_EQ(sampling.frequency_penalty(), 0.2f);
  EXPECT_FLOAT_EQ(sampling.presence_penalty(), -0.3f);
  EXPECT_EQ(sampling.seed(), UINT64_MAX);
  EXPECT_EQ(request->generate.max_tokens(), 9);
  EXPECT_THAT(request->generate.stop(), ElementsAre("a", "b"));
  EXPECT_EQ(request->choices, 3);
  EXPECT_TRUE(request->generate.ignore_eos());
  EXPECT_TRUE(request->generate.logprobs());
  EXPECT_EQ(request->generate.top_logprobs(), 4);
}

TEST(OpenAiRequestTest, WithoutFieldsAllIsLeftToTheServer) {
  const auto request = Chat("");
  ASSERT_TRUE(request.ok());
  EXPECT_FALSE(request->generate.sampling().has_temperature());
  EXPECT_FALSE(request->generate.has_max_tokens());
  EXPECT_FALSE(request->stream);
  EXPECT_EQ(request->choices, 1);
  EXPECT_EQ(request->generate.model(), "demo");
}

TEST(OpenAiRequestTest, NullIsTheSameAsMissing) {
  EXPECT_TRUE(Chat(R"("temperature":null,"stop":null,"n":null,"tools":null,"tool_choice":null,"stream_options":null,)"
                   R"("logit_bias":null,"response_format":null,"metadata":null,"user":null,"cache":null)")
                  .ok());
}

TEST(OpenAiRequestTest, UnknownAndHarmlessFieldsArePassedOver) {
  EXPECT_TRUE(Chat(R"("service_tier":"auto","store":true,"safety_identifier":"x","prediction":{},"logit_bias":{},)"
                   R"("future_field":[1,2])")
                  .ok());
}

TEST(OpenAiRequestTest, MessagesInAllForms) {
  const auto request =
      Messages(R"([{"role":"developer","content":"Be brief."},)"
               R"({"role":"user","name":"ann","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},)"
               R"({"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":)"
               R"({"name":"f","arguments":"{\"x\": 1}"}}]},)"
               R"({"role":"tool","tool_call_id":"c1","content":"7"}])");
  ASSERT_TRUE(request.ok()) << request.status();
  const v1::ChatInput& chat = request->generate.input().chat();
  EXPECT_EQ(chat.messages(0).role(), "system");
  EXPECT_EQ(chat.messages(1).content(), "ab");
  EXPECT_EQ(chat.messages(1).name(), "ann");
  EXPECT_EQ(chat.messages(2).tool_calls(0).arguments_json(), R"({"x": 1})");
  EXPECT_EQ(chat.messages(2).tool_calls(0).id(), "c1");
  EXPECT_EQ(chat.messages(3).tool_call_id(), "c1");
}

TEST(OpenAiRequestTest, WhatIsNotTextIsRefusedByName) {
  const auto image = Messages(R"([{"role":"user","content":[{"type":"image_url","image_url":{"url":"http://x"}}]}])");
  EXPECT_THAT(std::string(image.status().message()), HasSubstr("image_url"));
  EXPECT_EQ(ParamOf(image.status()), "messages[0].content[0].type");
  const auto second = Messages(R"([{"role":"user","content":[{"type":"text","text":"x"},{"type":"text"}]}])");
  EXPECT_EQ(ParamOf(second.status()), "messages[0].content[1].text");
}

TEST(OpenAiRequestTest, Tools) {
  const std::string tools = R"("tools":[{"type":"function","function":{"name":"f","description":"d","strict":true,)"
                            R"("parameters":{"type":"object","properties":{"x":{"type":"number","minimum":0.10}}}}}])";
  const auto request = Chat(tools + R"(,"tool_choice":"auto","parallel_tool_calls":false)");
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->generate.input().chat().tools(0).name(), "f");
  EXPECT_THAT(request->generate.input().chat().tools(0).parameters_json(), HasSubstr("minimum"));
  EXPECT_THAT(request->tools, ElementsAre("f"));
  EXPECT_FALSE(request->parallel_tool_calls);
  const auto none = Chat(tools + R"(,"tool_choice":"none")");
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none->tools.empty());
  EXPECT_TRUE(none->generate.input().chat().tools().empty());
  for (const std::string choice : {R"("required")", R"({"type":"function","function":{"name":"f"}})"}) {
    EXPECT_EQ(ParamOf(Chat(tools + R"(,"tool_choice":)" + choice).status()), "tool_choice") << choice;
  }
}

TEST(OpenAiRequestTest, LabelsAndCache) {
  const auto request =
      Chat(R"("user":"u7","metadata":{"team":"search"},"prompt_cache_key":"k","prompt_cache_retention":"24h",)"
           R"("cache":{"read":false,"priority":"low"})");
  ASSERT_TRUE(request.ok()) << request.status();
  const auto& labels = request->generate.labels();
  EXPECT_EQ(labels.at("user"), "u7");
  EXPECT_EQ(labels.at("team"), "search");
  EXPECT_EQ(labels.at("prompt_cache_key"), "k");
  EXPECT_EQ(request->generate.cache().ttl().seconds(), 86400);
  EXPECT_FALSE(request->generate.cache().read());
  EXPECT_FALSE(request->generate.cache().has_write());
  EXPECT_EQ(request->generate.cache().priority(), v1::CACHE_PRIORITY_LOW);
  const auto ttl = Chat(R"("cache":{"ttl_seconds":1.5,"write":false},"prompt_cache_retention":"in_memory")");
  ASSERT_TRUE(ttl.ok());
  EXPECT_EQ(ttl->generate.cache().ttl().seconds(), 1);
  EXPECT_EQ(ttl->generate.cache().ttl().nanos(), 500'000'000);
}

TEST(OpenAiRequestTest, TemplateVariables) {
  const auto request =
      Chat(R"("chat_template_kwargs":{"enable_thinking":false,"list":[1,"a"]},"reasoning_effort":"low")");
  ASSERT_TRUE(request.ok()) << request.status();
  const auto& variables = request->generate.input().chat().template_variables();
  EXPECT_FALSE(variables.at("enable_thinking").bool_value());
  EXPECT_TRUE(variables.at("enable_thinking").has_bool_value());
  EXPECT_EQ(variables.at("list").list_value().values_size(), 2);
  EXPECT_EQ(variables.at("reasoning_effort").string_value(), "low");
}

TEST(OpenAiRequestTest, TemplateVariablesNestAsDeepAsBodiesDo) {
  constexpr int kLists = 62;  // below the body and the variables
  const std::string deep = std::string(kLists, '[') + "null,true,2.5" + std::string(kLists, ']');
  const auto request = Chat(R"("chat_template_kwargs":{"deep":)" + deep + R"(,"map":{"a":{"b":"c"}}})");
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(VariablesToJson(request->generate.input().chat()).dump(),
            R"({"deep":)" + deep + R"(,"map":{"a":{"b":"c"}}})");
}

TEST(OpenAiRequestTest, Prompts) {
  EXPECT_EQ(Completion(R"("prompt":"abc")")->generate.input().text().text(), "abc");
  EXPECT_EQ(Completion(R"("prompt":["abc"])")->generate.input().text().text(), "abc");
  EXPECT_THAT(Completion(R"("prompt":[1,2,3])")->generate.input().tokens().ids(), ElementsAre(1, 2, 3));
  EXPECT_THAT(Completion(R"("prompt":[[1,2]])")->generate.input().tokens().ids(), ElementsAre(1, 2));
  EXPECT_EQ(Completion(R"("prompt":"a")")->generate.max_tokens(), 16);
  const auto logprobs = Completion(R"("prompt":"a","logprobs":2)");
  EXPECT_TRUE(logprobs->generate.logprobs());
  EXPECT_EQ(logprobs->generate.top_logprobs(), 2);
  for (const auto& [prompt, param] : std::vector<BadField>{{R"(["a","b"])", "prompt"},
                                                           {R"([1,"a"])", "prompt[1]"},
                                                           {"[-1]", "prompt[0]"},
                                                           {"[1,2,1.5]", "prompt[2]"},
                                                           {"[99999999999]", "prompt[0]"},
                                                           {"7", "prompt"},
                                                           {"{}", "prompt"}}) {
    EXPECT_EQ(ParamOf(Completion(R"("prompt":)" + prompt).status()), param) << prompt;
  }
}

TEST(OpenAiRequestTest, WrongFieldsAreNamed) {
  for (const auto& [json, param] :
       std::vector<BadField>{{R"("temperature":"hot")", "temperature"},
                             {R"("n":0)", "n"},
                             {R"("n":9)", "n"},
                             {R"("n":1.5)", "n"},
                             {R"("n":1e300)", "n"},
                             {R"("seed":18446744073709551615)", "seed"},
                             {R"("top_k":-2)", "top_k"},
                             {R"("stop":7)", "stop"},
                             {R"("stop":["a",7])", "stop[1]"},
                             {R"("max_completion_tokens":5,"max_tokens":-1)", "max_tokens"},
                             {R"("stream":"yes")", "stream"},
                             {R"("logit_bias":{"50256":-100})", "logit_bias"},
                             {R"("response_format":{"type":"json_object"})", "response_format.type"},
                             {R"("functions":[])", "functions"},
                             {R"("audio":{})", "audio"},
                             {R"("modalities":["text","audio"])", "modalities"},
                             {R"("best_of":2)", "best_of"},
                             {R"("metadata":{"a":1})", "metadata"},
                             {R"("cache":{"priority":"urgent"})", "cache.priority"},
                             {R"("cache":{"prio":"low"})", "cache"},
                             {R"("cache":{"ttl_seconds":0})", "cache.ttl_seconds"},
                             {R"("cache":{"ttl_seconds":1e300})", "cache.ttl_seconds"},
                             {R"("prompt_cache_retention":"1y")", "prompt_cache_retention"},
                             {R"("tools":[{"type":"web_search"}])", "tools[0].type"},
                             {R"("tools":[{"type":"function"}])", "tools[0].function"},
                             {R"("tools":[7])", "tools[0]"},
                             {R"("top_logprobs":21)", "top_logprobs"}}) {
    EXPECT_EQ(ParamOf(Chat(json).status()), param) << json;
  }
  EXPECT_EQ(ParamOf(Completion(R"("prompt":"a","echo":true)").status()), "echo");
  EXPECT_EQ(ParamOf(Completion(R"("prompt":"a","suffix":"b")").status()), "suffix");
  EXPECT_EQ(ParamOf(Completion("").status()), "prompt");
  EXPECT_EQ(ParamOf(Messages(R"([{"content":"x"}])").status()), "messages[0].role");
  EXPECT_EQ(ParamOf(Messages("7").status()), "messages");
}

TEST(OpenAiRequestTest, BodiesThatAreNoJsonObject) {
  for (const std::string body : {"", "{", "[]", "7", "{\"a\":\"\xff\"}", "{} {}", "null"}) {
    const auto request = ParseOpenAiRequest(OpenAiApi::kChatCompletions, body, kMaxChoices);
    EXPECT_TRUE(absl::IsInvalidArgument(request.status())) << body;
  }
  EXPECT_THAT(std::string(Chat(R"("n":x)").status().message()), HasSubstr("not valid JSON in UTF-8 at byte "));
  EXPECT_THAT(std::string(Chat(R"("n":1e400)").status().message()), HasSubstr("a number that is out of range"));
}

// Parsing must not make more of a body than the body's own size suggests.
TEST(OpenAiRequestTest, HostileJsonIsRefusedBeforeItIsParsed) {
  const std::string deep = R"("x":)" + std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_THAT(std::string(Chat(deep).status().message()), HasSubstr("levels deep"));
  std::string wide = R"("x":[)";
  for (int i = 0; i < 300'000; ++i) wide += "[],";
  EXPECT_THAT(std::string(Chat(wide + "1]").status().message()), HasSubstr("objects and lists"));
}

}  // namespace
}  // namespace headstart::testing
