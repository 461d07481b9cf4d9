// The OpenAI-compatible API over HTTP, against an engine that the test plays.

#include <set>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "gateway/errors/error_details.h"
#include "gateway/http/http_server.h"
#include "gateway/openai/openai_errors.h"
#include "gateway/openai/openai_service.h"
#include "gateway/services/random_source.h"
#include "gateway/services/worker_pool.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/gateway/fake_engine.h"
#include "tests/gateway/http_client.h"
#include "tests/gateway/rpc_testing.h"

namespace headstart::testing {
namespace {

using Json = nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

GenerationUsage Split() {
  GenerationUsage usage;
  usage.prompt_tokens = 7;
  usage.cached_device_tokens = 2;
  usage.cached_disk_tokens = 1;
  usage.miss_reason = MissReason::kDiverged;
  return usage;
}

GenerationUsage Total() {
  GenerationUsage usage = Split();
  usage.computed_prompt_tokens = 4;
  usage.completion_tokens = 2;
  return usage;
}

GenerationDelta Delta(const std::string& text, int token = 408) {
  return {.text = text, .tokens = {{.token = TokenId{token}, .logprob = -0.5f, .top = {{TokenId{token}, -0.5f}}}}};
}

std::string Chat(const std::string& fields = "") {
  return R"({"model":"demo","messages":[{"role":"user","content":"Hi"}])" + (fields.empty() ? "" : "," + fields) + "}";
}

constexpr char kTools[] = R"("tools":[{"type":"function","function":{"name":"f"}}])";

class OpenAiApiTest : public ::testing::Test {
 protected:
  explicit OpenAiApiTest(std::unique_ptr<Authenticator> authenticator = OpenAuthenticator())
      : authenticator_(std::move(authenticator)) {
    openai_.AddTo(router_);
    server_ = *HttpServer::Start({.listen = "127.0.0.1:0", .max_unread_bytes = 100'000}, std::move(router_));
  }
  ~OpenAiApiTest() override { server_.reset(); }

  RawClient Post(const std::string& body, const std::string& path = "/v1/chat/completions",
                 const std::vector<std::string>& headers = {}) {
    RawClient client(server_->address());
    client.SendRequest("POST", path, body, headers);
    return client;
  }
  RawResponse Get(const std::string& path) {
    RawClient client(server_->address());
    client.SendRequest("GET", path);
    return client.ReadResponse();
  }
  // Plays a whole answer.
  void Play(const std::vector<std::string>& texts, FinishReason reason = FinishReason::kStop) {
    const auto submitted = engine_.WaitForRequest();
    submitted.sink->OnStarted(Split());
    for (const std::string& text : texts) submitted.sink->OnDelta(Delta(text));
    GenerationTimings timings;
    timings.ttft = absl::Milliseconds(1500);
    submitted.sink->OnFinished(reason, Total(), timings);
  }

  FakeEngine engine_;
  std::unique_ptr<Authenticator> authenticator_;
  RecordingObserver observer_;
  RecordingAccountant accountant_;
  WorkerPool workers_{2, 64};
  ServiceContext context_{.engine = engine_,
                          .authenticator = *authenticator_,
                          .workers = workers_,
                          .observer = observer_,
                          .accountant = accountant_,
                          .random = SystemRandom(),
                          .model_name = "demo",
                          .limits = {}};
  OpenAiService openai_{context_, {.tool_call_format = ToolCallFormatChoice::kHermes}};
  HttpRouter router_;
  std::unique_ptr<HttpServer> server_;
};

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
  EXPECT_EQ(requests[1]["request_id"], "r-1");
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

// --- Errors

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

// --- Cancelling

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

// --- Many

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
