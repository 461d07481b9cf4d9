// What HTTP and JSON cost: requests of the OpenAI API over loopback, against an engine that answers at once.
// `connections` requests are under way at the same time, sent and read by one thread. Time is wall time, and the
// client's share is in it.

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "benchmark/benchmark.h"
#include "gateway/accounting/no_account.h"
#include "gateway/http/http_server.h"
#include "gateway/openai/openai_service.h"
#include "gateway/services/random_source.h"
#include "gateway/services/worker_pool.h"
#include "tests/gateway/fake_engine.h"
#include "tests/gateway/http_client.h"

namespace headstart {
namespace {

constexpr int kTokens = 16;

class NoObserver final : public RequestObserver {
 public:
  void OnRequestFinished(const RequestRecord&) override {}
};

// An engine's scheduler thread without a model.
class Player {
 public:
  explicit Player(testing::FakeEngine& engine) : engine_(engine), thread_([this] { Play(); }) {}
  ~Player() {
    GenerationRequest last;
    last.max_tokens = kStop;
    static_cast<void>(engine_.Submit(std::move(last), nullptr));
    thread_.join();
  }

 private:
  static constexpr int64_t kStop = -1;

  void Play() {
    while (true) {
      const auto submitted = engine_.WaitForRequest();
      if (submitted.request.max_tokens == kStop) return;
      GenerationUsage usage;
      usage.prompt_tokens = static_cast<int64_t>(submitted.request.prompt.size());
      usage.cached_device_tokens = usage.prompt_tokens - 1;
      submitted.sink->OnStarted(usage);
      for (int i = 0; i < kTokens; ++i) {
        submitted.sink->OnDelta({.text = " word", .tokens = {{.token = TokenId{7}, .logprob = 0, .top = {}}}});
      }
      usage.completion_tokens = kTokens;
      submitted.sink->OnFinished(FinishReason::kStop, usage, {});
    }
  }

  testing::FakeEngine& engine_;
  std::thread thread_;
};

struct Served {
  testing::FakeEngine engine;
  std::unique_ptr<Authenticator> authenticator = OpenAuthenticator();
  NoObserver observer;
  std::unique_ptr<Accountant> accountant = NoAccount();
  PromptHistory history{{}};
  WorkerPool workers{2, 1024};
  ServiceContext context{.engine = engine,
                         .authenticator = *authenticator,
                         .workers = workers,
                         .observer = observer,
                         .accountant = *accountant,
                         .history = history,
                         .random = SystemRandom(),
                         .model_name = "demo",
                         .limits = {}};
  OpenAiService openai{context, {}};
  Player player{engine};
  std::unique_ptr<HttpServer> server;

  Served() {
    HttpRouter router;
    openai.AddTo(router);
    server = *HttpServer::Start({.listen = "127.0.0.1:0"}, std::move(router));
  }
};

void Run(benchmark::State& state, std::string_view method, std::string_view path, const std::string& body) {
  Served served;
  std::vector<testing::RawClient> clients;
  for (int64_t i = 0; i < state.range(0); ++i) clients.emplace_back(served.server->address());
  for (auto _ : state) {
    for (auto& client : clients) client.SendRequest(method, path, body);
    for (auto& client : clients) {
      if (client.ReadResponse().status != 200) state.SkipWithError("an answer is not 200");
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

std::string Chat(std::string_view fields) {
  return R"({"model":"demo","messages":[{"role":"user","content":"Where is the red lamp?"}])" + std::string(fields) +
         "}";
}

void Healthz(benchmark::State& state) { Run(state, "GET", "/healthz", ""); }
void WholeChat(benchmark::State& state) { Run(state, "POST", "/v1/chat/completions", Chat("")); }
void StreamedChat(benchmark::State& state) { Run(state, "POST", "/v1/chat/completions", Chat(R"(,"stream":true)")); }

BENCHMARK(Healthz)->ArgName("connections")->Arg(1)->Arg(50)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(WholeChat)->ArgName("connections")->Arg(1)->Arg(50)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(StreamedChat)->ArgName("connections")->Arg(1)->Arg(50)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace headstart
