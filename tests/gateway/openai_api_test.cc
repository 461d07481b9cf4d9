// The OpenAI-compatible API over HTTP, against an engine that the test plays: answers.

#include <set>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/gateway/openai_fixture.h"

namespace headstart::testing {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_F(OpenAiApiTest, Models) {
  const Json list = Json::parse(Get("/v1/models").body);
  EXPECT_EQ(list["object"], "list");
  EXPECT_EQ(list["data"][0]["id"], "demo");
  EXPECT_EQ(Json::parse(Get("/v1/models/demo").body)["object"], "model");
  const RawResponse missing = Get("/v1/models/other%2Fmodel");
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(Json::parse(missing.body)["error"]["code"], "model_not_found");
}

TEST_F(OpenAiApiTest, AWholeChat) {
  RawClient client = Post(Chat(), "/v1/chat/completions", {"X-Request-Id: request-1"});
  Play({"The", " lamp"});
  const RawResponse response = client.ReadResponse();
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(response.headers.at("x-request-id"), "request-1");
  EXPECT_EQ(response.headers.at("x-headstart-cached-tokens"), "3");
  const Json answer = Json::parse(response.body);
  EXPECT_EQ(answer["id"], "chatcmpl-request-1");
  EXPECT_EQ(answer["object"], "chat.completion");
  EXPECT_EQ(answer["model"], "demo");
  const Json& choice = answer["choices"][0];
  EXPECT_EQ(choice["message"]["role"], "assistant");
  EXPECT_EQ(choice["message"]["content"], "The lamp");
  EXPECT_FALSE(choice["message"].contains("tool_calls"));
  EXPECT_EQ(choice["finish_reason"], "stop");
  EXPECT_TRUE(choice["logprobs"].is_null());
  const Json& usage = answer["usage"];
  EXPECT_EQ(usage["prompt_tokens"], 7);
  EXPECT_EQ(usage["completion_tokens"], 2);
  EXPECT_EQ(usage["total_tokens"], 9);
  EXPECT_EQ(usage["prompt_tokens_details"]["cached_tokens"], 3);
  EXPECT_EQ(usage["headstart"]["cached_by_tier"]["disk"], 1);
  EXPECT_EQ(usage["headstart"]["miss_reason"], "diverged");
  EXPECT_EQ(usage["headstart"]["timings"]["time_to_first_token_ms"], 1500.0);
  EXPECT_TRUE(usage["headstart"].contains("cost"));
}

TEST_F(OpenAiApiTest, ZeroCachedTokensAreWrittenAsZero) {
  RawClient client = Post(Chat());
  const auto submitted = engine_.WaitForRequest();
  submitted.sink->OnStarted({});
  submitted.sink->OnFinished(FinishReason::kStop, {}, {});
  const Json answer = Json::parse(client.ReadResponse().body);
  EXPECT_EQ(answer["usage"]["prompt_tokens_details"]["cached_tokens"], 0);
  EXPECT_EQ(answer["choices"][0]["message"]["content"], "");
}

TEST_F(OpenAiApiTest, AStreamedChat) {
  RawClient client = Post(Chat(R"("stream":true,"stream_options":{"include_usage":true})"));
  Play({"The", "", " \"lamp\"\n"}, FinishReason::kLength);
  const RawResponse response = client.ReadResponse();
  EXPECT_THAT(response.headers.at("content-type"), StartsWith("text/event-stream"));
  EXPECT_EQ(response.headers.at("x-headstart-cached-tokens"), "3");
  const auto events = EventsOf(response.body);
  ASSERT_EQ(events.size(), 6u) << response.body;
  const Json first = Json::parse(events[0]);
  EXPECT_EQ(first["object"], "chat.completion.chunk");
  EXPECT_EQ(first["choices"][0]["delta"]["role"], "assistant");
  EXPECT_TRUE(first["usage"].is_null() && first.contains("usage"));
  EXPECT_EQ(Json::parse(events[1])["choices"][0]["delta"]["content"], "The");
  EXPECT_EQ(Json::parse(events[2])["choices"][0]["delta"]["content"], " \"lamp\"\n");
  EXPECT_TRUE(Json::parse(events[2])["choices"][0]["finish_reason"].is_null());
  EXPECT_EQ(Json::parse(events[3])["choices"][0]["finish_reason"], "length");
  const Json last = Json::parse(events[4]);
  EXPECT_TRUE(last["choices"].empty());
  EXPECT_EQ(last["usage"]["prompt_tokens_details"]["cached_tokens"], 3);
  EXPECT_EQ(last["id"], first["id"]);
  EXPECT_EQ(events[5], "[DONE]");
}

TEST_F(OpenAiApiTest, AStreamSaysNothingOfUsageUnlessAsked) {
  RawClient client = Post(Chat(R"("stream":true)"));
  Play({"a"});
  EXPECT_THAT(client.ReadResponse().body, ::testing::Not(HasSubstr("usage")));
}

TEST_F(OpenAiApiTest, EachPieceArrivesBeforeTheNextIsThere) {
  RawClient client = Post(Chat(R"("stream":true)"));
  const auto submitted = engine_.WaitForRequest();
  submitted.sink->OnStarted(Split());
  client.ReadUntil("\"assistant\"");
  submitted.sink->OnDelta(Delta("one"));
  client.ReadUntil("\"one\"");
  submitted.sink->OnDelta(Delta("two"));
  client.ReadUntil("\"two\"");
  submitted.sink->OnFinished(FinishReason::kStop, Total(), {});
  EXPECT_THAT(client.ReadUntil("[DONE]"), HasSubstr("\"stop\""));
}

TEST_F(OpenAiApiTest, Completions) {
  RawClient whole = Post(R"({"prompt":"Hi","logprobs":1})", "/v1/completions");
  Play({"The", " lamp"});
  const Json answer = Json::parse(whole.ReadResponse().body);
  EXPECT_EQ(answer["object"], "text_completion");
  EXPECT_EQ(answer["choices"][0]["text"], "The lamp");
  EXPECT_EQ(answer["choices"][0]["logprobs"]["tokens"], (Json{"The", "The"}));
  EXPECT_EQ(answer["choices"][0]["logprobs"]["token_logprobs"][0], -0.5);
  EXPECT_EQ(answer["choices"][0]["logprobs"]["text_offset"], (Json{0, 3}));
  RawClient stream = Post(R"({"prompt":[5,6],"stream":true})", "/v1/completions");
  Play({"x"});
  const auto events = EventsOf(stream.ReadResponse().body);
  EXPECT_EQ(Json::parse(events.at(0))["choices"][0]["text"], "x");
  EXPECT_EQ(events.back(), "[DONE]");
}

// Text may be held back, and control tokens are not in it; where tokens begin is the same whichever way it is sent.
TEST_F(OpenAiApiTest, OffsetsAreTheSameStreamedAndWhole) {
  TokenId control{0};
  while (!engine_.tokenizer().IsSpecial(control)) control = TokenId{ToIndex(control) + 1};
  const TokenId the{408};
  const auto play = [&] {
    const auto submitted = engine_.WaitForRequest();
    submitted.sink->OnStarted(Split());
    for (const TokenId token : {the, control, the}) {
      submitted.sink->OnDelta({.text = "", .tokens = {{.token = token, .logprob = -0.5f, .top = {}}}});
    }
    submitted.sink->OnDelta({.text = "TheThe", .tokens = {}});
    submitted.sink->OnFinished(FinishReason::kStop, Total(), {});
  };
  RawClient whole = Post(R"({"prompt":"Hi","logprobs":0})", "/v1/completions");
  play();
  const Json offsets = Json::parse(whole.ReadResponse().body)["choices"][0]["logprobs"]["text_offset"];
  EXPECT_EQ(offsets, (Json{0, 3, 3}));
  RawClient stream = Post(R"({"prompt":"Hi","logprobs":0,"stream":true})", "/v1/completions");
  play();
  Json streamed = Json::array();
  for (const std::string& event : EventsOf(stream.ReadResponse().body)) {
    if (event == "[DONE]") break;
    const Json choice = Json::parse(event)["choices"][0];
    if (choice["logprobs"].is_object()) streamed.push_back(choice["logprobs"]["text_offset"][0]);
  }
  EXPECT_EQ(streamed, offsets);
}

TEST_F(OpenAiApiTest, LogprobsOfAChat) {
  const auto check = [](const Json& logprobs) {
    const Json& token = logprobs["content"][0];
    EXPECT_EQ(token["token"], "The");
    EXPECT_EQ(token["logprob"], -0.5);
    EXPECT_EQ(token["bytes"], (Json{84, 104, 101}));
    EXPECT_EQ(token["top_logprobs"][0]["token"], "The");
  };
  RawClient whole = Post(Chat(R"("logprobs":true,"top_logprobs":1)"));
  Play({"The"});
  check(Json::parse(whole.ReadResponse().body)["choices"][0]["logprobs"]);
  RawClient stream = Post(Chat(R"("logprobs":true,"top_logprobs":1,"stream":true)"));
  Play({"The"});
  check(Json::parse(EventsOf(stream.ReadResponse().body).at(1))["choices"][0]["logprobs"]);
}

TEST_F(OpenAiApiTest, SeveralChoicesShareAPromptAndDifferInSeed) {
  RawClient client = Post(Chat(R"("n":3,"seed":5)"), "/v1/chat/completions", {"X-Request-Id: r"});
  std::vector<FakeEngine::Submitted> submitted;
  std::set<uint64_t> seeds;
  for (int i = 0; i < 3; ++i) {
    submitted.push_back(engine_.WaitForRequest());
    seeds.insert(submitted.back().request.sampling.seed);
    EXPECT_EQ(submitted.back().request.prompt, submitted.front().request.prompt);
  }
  EXPECT_EQ(seeds.size(), 3u);
  EXPECT_TRUE(seeds.contains(5));
  for (const auto& one : submitted) one.sink->OnStarted(Split());
  for (const auto& one : submitted) one.sink->OnDelta(Delta(std::to_string(one.request.sampling.seed)));
  for (const auto& one : submitted) one.sink->OnFinished(FinishReason::kStop, Total(), {});
  const Json answer = Json::parse(client.ReadResponse().body);
  ASSERT_EQ(answer["choices"].size(), 3u);
  EXPECT_EQ(answer["choices"][0]["message"]["content"], "5");
  EXPECT_EQ(answer["choices"][2]["index"], 2);
  EXPECT_EQ(answer["usage"]["prompt_tokens"], 7);
  EXPECT_EQ(answer["usage"]["completion_tokens"], 6);
  const Json& requests = answer["usage"]["headstart"]["requests"];
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_EQ(requests[0]["request_id"], "r");
  EXPECT_EQ(requests[1]["request_id"], "r#1");
}

// A seed that was drawn for a choice is not part of what was asked: else its retry would be another request.
TEST_F(OpenAiApiTest, ChoicesWithoutASeedAreTheSameRequestsWhenTriedAgain) {
  std::vector<std::set<uint64_t>> digests;
  std::set<uint64_t> seeds;
  for (int attempt = 0; attempt < 2; ++attempt) {
    RawClient client = Post(Chat(R"("n":3)"), "/v1/chat/completions", {"X-Request-Id: r"});
    for (int choice = 0; choice < 3; ++choice) {
      const auto submitted = engine_.WaitForRequest();
      seeds.insert(submitted.request.sampling.seed);
      submitted.sink->OnStarted(Split());
      submitted.sink->OnFinished(FinishReason::kStop, Total(), {});
    }
    EXPECT_EQ(client.ReadResponse().status, 200);
    auto& asked = digests.emplace_back();
    for (const AdmissionRequest& admission : accountant_.admissions()) asked.insert(admission.request_digest);
  }
  EXPECT_EQ(seeds.size(), 6u) << "each choice draws its own";
  EXPECT_EQ(digests[0], digests[1]);
}

TEST_F(OpenAiApiTest, ToolCalls) {
  const std::vector<std::string> texts = {"Sure.<tool", "_call>\n{\"name\": \"f\", \"argum",
                                          "ents\": {\"a\": 1}}\n</tool_call>"};
  RawClient whole = Post(Chat(kTools));
  Play(texts);
  const Json choice = Json::parse(whole.ReadResponse().body)["choices"][0];
  EXPECT_EQ(choice["finish_reason"], "tool_calls");
  EXPECT_EQ(choice["message"]["content"], "Sure.");
  const Json& call = choice["message"]["tool_calls"][0];
  EXPECT_EQ(call["type"], "function");
  EXPECT_EQ(call["function"]["name"], "f");
  EXPECT_EQ(call["function"]["arguments"], R"({"a":1})");
  EXPECT_THAT(call["id"].get<std::string>(), StartsWith("call_"));

  RawClient stream = Post(Chat(std::string(kTools) + R"(,"stream":true)"));
  Play(texts);
  const auto events = EventsOf(stream.ReadResponse().body);
  const Json delta = Json::parse(events.at(2))["choices"][0]["delta"]["tool_calls"][0];
  EXPECT_EQ(delta["index"], 0);
  EXPECT_EQ(delta["function"]["arguments"], R"({"a":1})");
  EXPECT_EQ(Json::parse(events.at(3))["choices"][0]["finish_reason"], "tool_calls");
}

TEST_F(OpenAiApiTest, WithoutToolsCallsAreText) {
  RawClient client = Post(Chat());
  Play({"<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>"});
  const Json choice = Json::parse(client.ReadResponse().body)["choices"][0];
  EXPECT_EQ(choice["finish_reason"], "stop");
  EXPECT_THAT(choice["message"]["content"].get<std::string>(), HasSubstr("<tool_call>"));
}

TEST_F(OpenAiApiTest, OneCallAtMostWhenTheyMayNotBeParallel) {
  RawClient client = Post(Chat(std::string(kTools) + R"(,"parallel_tool_calls":false)"));
  const std::string call = "<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>";
  Play({call, call});
  EXPECT_EQ(Json::parse(client.ReadResponse().body)["choices"][0]["message"]["tool_calls"].size(), 1u);
}

TEST_F(OpenAiApiTest, FiftyStreamsAtOnceAreAllWhole) {
  constexpr int kStreams = 50;
  std::vector<RawClient> clients;
  for (int i = 0; i < kStreams; ++i) clients.push_back(Post(Chat(R"("stream":true)")));
  std::vector<FakeEngine::Submitted> submitted;
  for (int i = 0; i < kStreams; ++i) submitted.push_back(engine_.WaitForRequest());
  for (const auto& one : submitted) one.sink->OnStarted(Split());
  for (int token = 0; token < 50; ++token) {
    for (const auto& one : submitted) one.sink->OnDelta(Delta("x"));
  }
  for (const auto& one : submitted) one.sink->OnFinished(FinishReason::kStop, Total(), {});
  for (RawClient& client : clients) {
    const auto events = EventsOf(client.ReadResponse().body);
    EXPECT_EQ(events.size(), 53u);
    EXPECT_EQ(events.back(), "[DONE]");
  }
}

TEST_F(OpenAiApiTest, ALargePromptIsParsedByAWorker) {
  RawClient client = Post(R"({"messages":[{"role":"user","content":")" + std::string(100'000, 'a') + "\"}]}");
  Play({"ok"});
  EXPECT_EQ(client.ReadResponse().status, 200);
}

class OpenAiKeysTest : public OpenAiApiTest {
 protected:
  OpenAiKeysTest() : OpenAiApiTest(std::make_unique<TokenAuthenticator>()) {}
};

TEST_F(OpenAiKeysTest, TheCredentialDecidesTheTenant) {
  for (const std::string path : {"/v1/chat/completions", "/v1/completions"}) {
    const RawResponse refused = Post(Chat(), path).ReadResponse();
    EXPECT_EQ(refused.status, 401);
    EXPECT_EQ(refused.headers.at("www-authenticate"), "Bearer");
  }
  EXPECT_EQ(Get("/v1/models").status, 401);
  RawClient client =
      Post(Chat(R"("user":"other","prompt_cache_key":"other")"), "/v1/chat/completions", {"Authorization: tenant-a"});
  const auto submitted = engine_.WaitForRequest();
  EXPECT_EQ(submitted.request.scope, Scope::Tenant("tenant-a"));
  submitted.sink->OnFinished(FinishReason::kCancelled, {}, {});
}

}  // namespace
}  // namespace headstart::testing
