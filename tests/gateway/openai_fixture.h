// What tests of the OpenAI-compatible API share: it is served over an engine that the test plays.

#ifndef HEADSTART_TESTS_GATEWAY_OPENAI_FIXTURE_H_
#define HEADSTART_TESTS_GATEWAY_OPENAI_FIXTURE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gateway/http/http_server.h"
#include "gateway/openai/openai_service.h"
#include "gateway/services/random_source.h"
#include "gateway/services/worker_pool.h"
#include "gtest/gtest.h"
#include "tests/gateway/fake_engine.h"
#include "tests/gateway/http_client.h"
#include "tests/gateway/rpc_testing.h"

namespace headstart::testing {

inline GenerationUsage Split() {
  GenerationUsage usage;
  usage.prompt_tokens = 7;
  usage.cached_device_tokens = 2;
  usage.cached_disk_tokens = 1;
  usage.miss_reason = MissReason::kDiverged;
  return usage;
}

inline GenerationUsage Total() {
  GenerationUsage usage = Split();
  usage.computed_prompt_tokens = 4;
  usage.completion_tokens = 2;
  return usage;
}

inline GenerationDelta Delta(const std::string& text, int token = 408) {
  return {.text = text, .tokens = {{.token = TokenId{token}, .logprob = -0.5f, .top = {{TokenId{token}, -0.5f}}}}};
}

inline std::string Chat(const std::string& fields = "") {
  return R"({"model":"demo","messages":[{"role":"user","content":"Hi"}])" + (fields.empty() ? "" : "," + fields) + "}";
}

inline constexpr char kTools[] = R"("tools":[{"type":"function","function":{"name":"f"}}])";

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
  PromptHistory history_{{}};
  WorkerPool workers_{2, 64};
  ServiceContext context_{.engine = engine_,
                          .authenticator = *authenticator_,
                          .workers = workers_,
                          .observer = observer_,
                          .accountant = accountant_,
                          .history = history_,
                          .random = SystemRandom(),
                          .model_name = "demo",
                          .limits = {}};
  OpenAiService openai_{context_, {.tool_call_format = ToolCallFormatChoice::kHermes}};
  HttpRouter router_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_GATEWAY_OPENAI_FIXTURE_H_
