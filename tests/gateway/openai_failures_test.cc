// The OpenAI-compatible API over HTTP: errors, and clients that go.

#include <set>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "gateway/errors/error_details.h"
#include "gateway/openai/openai_errors.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/gateway/openai_fixture.h"

namespace headstart::testing {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_F(OpenAiApiTest, ErrorsNameTheFieldAsOpenAiDoes) {
  const auto error_of = [this](const std::string& body, const std::string& path = "/v1/chat/completions") {
    const RawResponse response = Post(body, path).ReadResponse();
    EXPECT_EQ(response.status, 400) << response.body;
    return Json::parse(response.body)["error"];
  };
  EXPECT_EQ(error_of(Chat(R"("max_tokens":0)"))["param"], "max_tokens");
  EXPECT_EQ(error_of(R"({"messages":[]})")["param"], "messages");
  EXPECT_EQ(error_of(R"({"prompt":""})", "/v1/completions")["param"], "prompt");
  const Json sampling = error_of(Chat(R"("temperature":1e9)"));
  EXPECT_EQ(sampling["type"], "invalid_request_error");
  EXPECT_THAT(sampling["message"].get<std::string>(), HasSubstr("temperature"));
  EXPECT_EQ(error_of("not json")["param"], "body");
}

struct NamedField {
  std::string body;
  std::string param;
};

// What the gateway's own checks refuse; gRPC calls these fields otherwise.
TEST_F(OpenAiApiTest, ErrorsNameTheFieldThatTheBodyHas) {
  const std::string long_text(129, 'x');
  const auto completion = [](const std::string& fields) { return R"({"prompt":"x",)" + fields + "}"; };
  const auto label = [&](const std::string& name) { return fmt::format(R"("{}":"{}")", name, long_text); };
  const std::vector<NamedField> cases = {
      {Chat(R"("max_tokens":0)"), "max_tokens"},
      {Chat(R"("max_completion_tokens":0)"), "max_completion_tokens"},
      {Chat(R"("max_completion_tokens":0,"max_tokens":5)"), "max_completion_tokens"},
      {completion(R"("max_tokens":0)"), "max_tokens"},
      {Chat(R"("temperature":1e9)"), "temperature"},
      {Chat(R"("top_p":0)"), "top_p"},
      {Chat(R"("min_p":7)"), "min_p"},
      {Chat(R"("frequency_penalty":9)"), "frequency_penalty"},
      {Chat(R"("presence_penalty":9)"), "presence_penalty"},
      {Chat(R"("repetition_penalty":-9)"), "repetition_penalty"},
      {Chat(R"("top_logprobs":2)"), "top_logprobs"},
      {Chat(R"("stop":"")"), "stop"},
      {Chat(R"("stop":["a",""])"), "stop[1]"},
      {Chat(label("user")), "user"},
      {Chat(label("prompt_cache_key")), "prompt_cache_key"},
      {Chat("\"metadata\":{" + label("user") + "}"), "metadata.user"},
      {Chat("\"metadata\":{" + label("team") + "}"), "metadata.team"},
      {Chat(R"("metadata":{"":"x"})"), "metadata"},
      {completion(label("user")), "user"},
      {R"({"messages":[{"role":"","content":"x"}]})", "messages[0].role"},
      {R"({"messages":[]})", "messages"},
      {R"({"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"x"}}]}]})",
       "messages[0].tool_calls[0].function.arguments"},
      {R"({"prompt":[]})", "prompt"},
      {R"({"prompt":[1,464]})", "prompt[1]"},
  };
  for (const auto& [body, param] : cases) {
    const bool is_chat = body.find("messages") != std::string::npos;
    const RawResponse response = Post(body, is_chat ? "/v1/chat/completions" : "/v1/completions").ReadResponse();
    EXPECT_EQ(response.status, 400) << body;
    const Json error = Json::parse(response.body)["error"];
    EXPECT_EQ(error["param"], param) << body;
    EXPECT_THAT(error["message"].get<std::string>(), StartsWith(param + " ")) << body;
  }
}

TEST_F(OpenAiApiTest, PromptThatIsTooLongIsNamedAsTheBodyDoes) {
  for (const bool is_chat : {true, false}) {
    engine_.RefuseWith(absl::OutOfRangeError("the prompt is too long"));
    const RawResponse response =
        is_chat ? Post(Chat()).ReadResponse() : Post(R"({"prompt":"x"})", "/v1/completions").ReadResponse();
    EXPECT_EQ(Json::parse(response.body)["error"]["param"], is_chat ? "messages" : "prompt");
  }
}

TEST_F(OpenAiApiTest, AnotherModelIsNotFound) {
  const RawResponse response = Post(R"({"model":"gpt-5","messages":[{"role":"user","content":"x"}]})").ReadResponse();
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(Json::parse(response.body)["error"]["code"], "model_not_found");
  EXPECT_EQ(Json::parse(response.body)["error"]["param"], "model");
}

TEST_F(OpenAiApiTest, BodiesThatAWebPageCouldSendUnaskedAreRefused) {
  RawClient client(server_->address());
  const std::string body = Chat();
  client.Send(
      fmt::format("POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\n"
                  "Content-Length: {}\r\n\r\n{}",
                  body.size(), body));
  EXPECT_EQ(client.ReadResponse().status, 415);
}

struct Refusal {
  absl::Status status;
  int http;
  std::string code;
};

TEST_F(OpenAiApiTest, RefusalsOfTheEngine) {
  const std::vector<Refusal> refusals = {{absl::OutOfRangeError("too long"), 400, "context_length_exceeded"},
                                         {absl::UnavailableError("full"), 503, "queue_full"},
                                         {absl::FailedPreconditionError("small"), 400, "cache_too_small"},
                                         {absl::InternalError("oops"), 500, "internal"}};
  for (const auto& [status, http, code] : refusals) {
    engine_.RefuseWith(status);
    for (const std::string stream : {"", R"("stream":true)"}) {
      const RawResponse response = Post(Chat(stream)).ReadResponse();
      EXPECT_EQ(response.status, http);
      EXPECT_EQ(Json::parse(response.body)["error"]["code"], code);
      EXPECT_EQ(response.headers.contains("retry-after"), http == 503);
    }
  }
}

TEST_F(OpenAiApiTest, AnErrorInMidStreamIsAnEvent) {
  RawClient client = Post(Chat(R"("stream":true)"));
  Play({"half"}, FinishReason::kShutdown);
  const RawResponse response = client.ReadResponse();
  EXPECT_TRUE(response.complete);
  const auto events = EventsOf(response.body);
  EXPECT_EQ(Json::parse(events.back())["error"]["type"], "server_error");
  EXPECT_THAT(response.body, HasSubstr("event: error\n"));
  EXPECT_THAT(response.body, ::testing::Not(HasSubstr("[DONE]")));
}

TEST_F(OpenAiApiTest, AWholeAnswerThatIsCutShortIsAnError) {
  RawClient client = Post(Chat());
  Play({"half"}, FinishReason::kDeadline);
  EXPECT_EQ(client.ReadResponse().status, 504);
}

TEST_F(OpenAiApiTest, AStoppingServerRefuses) {
  context_.stopping = true;
  EXPECT_EQ(Post(Chat()).ReadResponse().status, 503);
}

TEST(OpenAiErrorsTest, QuotaRateAndCredential) {
  const auto quota =
      WithRetryAfter(WithQuota(absl::ResourceExhaustedError("used up"), "budget"), absl::Milliseconds(1500));
  const HttpResponse used_up = OpenAiErrorResponse(quota);
  EXPECT_EQ(used_up.status, 429);
  EXPECT_EQ(Json::parse(used_up.body)["error"]["code"], "insufficient_quota");
  EXPECT_THAT(used_up.headers, ::testing::Contains(::testing::Pair("Retry-After", "2")));
  EXPECT_THAT(used_up.headers, ::testing::Contains(::testing::Pair("x-should-retry", "false")));
  const HttpResponse rate = OpenAiErrorResponse(absl::ResourceExhaustedError("slow down"));
  EXPECT_EQ(Json::parse(rate.body)["error"]["code"], "rate_limit_exceeded");
  const HttpResponse credential = OpenAiErrorResponse(absl::UnauthenticatedError("no"));
  EXPECT_EQ(credential.status, 401);
  EXPECT_EQ(Json::parse(credential.body)["error"]["code"], "invalid_api_key");
}

TEST_F(OpenAiApiTest, AClientThatGoesCancels) {
  for (const std::string stream : {"", R"("stream":true)"}) {
    RawClient client = Post(Chat(stream));
    const auto submitted = engine_.WaitForRequest();
    submitted.sink->OnStarted(Split());
    submitted.sink->OnDelta(Delta("a"));
    client.Close();
    EXPECT_EQ(engine_.WaitForCancel(), submitted.id);
    submitted.sink->OnFinished(FinishReason::kCancelled, Total(), {});
  }
}

TEST_F(OpenAiApiTest, AClientThatGoesCancelsAllChoices) {
  RawClient client = Post(Chat(R"("n":2,"stream":true)"));
  const auto first = engine_.WaitForRequest();
  const auto second = engine_.WaitForRequest();
  client.Close();
  std::set<GenerationId> cancelled = {engine_.WaitForCancel(), engine_.WaitForCancel()};
  EXPECT_EQ(cancelled, (std::set<GenerationId>{first.id, second.id}));
  first.sink->OnFinished(FinishReason::kCancelled, {}, {});
  second.sink->OnFinished(FinishReason::kCancelled, {}, {});
}

TEST_F(OpenAiApiTest, ASlowReaderIsCutOffAndCancelled) {
  RawClient client(server_->address());
  client.ShrinkReceiveBuffer();
  client.SendRequest("POST", "/v1/chat/completions", Chat(R"("stream":true)"));
  const auto submitted = engine_.WaitForRequest();
  submitted.sink->OnStarted(Split());
  const std::string piece(50'000, 'x');
  for (int i = 0; i < 1000; ++i) submitted.sink->OnDelta(Delta(piece));
  EXPECT_EQ(engine_.WaitForCancel(), submitted.id);
  submitted.sink->OnFinished(FinishReason::kCancelled, {}, {});
}

TEST_F(OpenAiApiTest, WhenOneChoiceFailsTheOthersAreCancelled) {
  RawClient client = Post(Chat(R"("n":2)"));
  const auto first = engine_.WaitForRequest();
  const auto second = engine_.WaitForRequest();
  first.sink->OnStarted(Split());
  second.sink->OnStarted(Split());
  first.sink->OnFinished(FinishReason::kShutdown, {}, {});
  EXPECT_EQ(client.ReadResponse().status, 503);
  std::set<GenerationId> cancelled = {engine_.WaitForCancel(), engine_.WaitForCancel()};
  EXPECT_TRUE(cancelled.contains(second.id));
  second.sink->OnFinished(FinishReason::kCancelled, {}, {});
}

}  // namespace
}  // namespace headstart::testing
