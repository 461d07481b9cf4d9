// What the gateway itself costs a warm request: everything from a client's socket to its last byte, but no model: an
// engine that answers at once. Keys aside all is as `headstart serve` has it: chat template, tokenizer, account on disk
// with a sync before the last event, metrics, dashboard. Clients are threads that send one request after the other over
// loopback, and their share is in the times.
//
//   prompt      tokens of the prompt: a chat whose system prompt is an inventory
//   streams     clients, each with one request under way at most
//   rate        requests a second, of all streams together, sent on a schedule: times count from when a request was
//   due,
//               whenever its client got to send it. 0: each client sends the next as soon as it has its answer, which
//               fills the machine, clients included
//   p50, p99    milliseconds from sending a request to the end of its answer
//   first       the same, median, to the first token

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "benchmark/benchmark.h"
#include "fmt/format.h"
#include "gateway/dashboard/activity.h"
#include "gateway/demo/inventory.h"
#include "gateway/ledger/ledger_accountant.h"
#include "gateway/serving/observers.h"
#include "gateway/serving/service_host.h"
#include "gateway/telemetry/request_metrics.h"
#include "grpcpp/create_channel.h"
#include "headstart/v1/inference.grpc.pb.h"
#include "nlohmann/json.hpp"
#include "tests/gateway/fake_engine.h"
#include "tests/gateway/http_client.h"

namespace headstart {
namespace {

constexpr int kAnswerTokens = 16;
constexpr int kRequests = 4000;

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
      usage.computed_prompt_tokens = 1;
      usage.cached_device_tokens = usage.prompt_tokens - 1;
      submitted.sink->OnStarted(usage);
      for (int i = 0; i < kAnswerTokens; ++i) {
        submitted.sink->OnDelta({.text = " word", .tokens = {{.token = TokenId{7}, .logprob = 0, .top = {}}}});
      }
      usage.completion_tokens = kAnswerTokens;
      submitted.sink->OnFinished(FinishReason::kStop, usage, {});
    }
  }

  testing::FakeEngine& engine_;
  std::thread thread_;
};

std::string LedgerDirectory() {
  const auto path = std::filesystem::temp_directory_path() / "headstart_gateway_benchmark";
  std::filesystem::remove_all(path);
  return path.string();
}

// A server as `headstart serve` puts it together, over an engine that is played.
struct Served {
  std::unique_ptr<Authenticator> authenticator = OpenAuthenticator();
  Activity activity;
  RequestMetrics metrics{RequestMetricsOptions{}};
  RequestObservers observers{{&activity, &metrics}};
  BillingObservers billing{{&activity, &metrics}};
  std::unique_ptr<LedgerAccountant> accountant;
  std::unique_ptr<ServiceHost> host;
  std::unique_ptr<Player> player;

  Served() {
    LedgerAccountantOptions options;
    options.ledger.directory = LedgerDirectory();
    options.observer = &billing;
    accountant = *LedgerAccountant::Open(std::move(options));
    auto engine = std::make_unique<testing::FakeEngine>();
    player = std::make_unique<Player>(*engine);
    ServiceHostOptions host_options;
    host_options.grpc.listen = "127.0.0.1:0";
    host_options.http.listen = "127.0.0.1:0";
    host = *ServiceHost::Start(std::move(engine), host_options,
                               {.authenticator = *authenticator,
                                .observer = observers,
                                .accountant = *accountant,
                                .ledger = &accountant->ledger(),
                                .activity = &activity,
                                .metrics = &metrics});
  }
  ~Served() { player.reset(); }
};

struct Latency {
  absl::Duration first;
  absl::Duration total;
};

// One client, one request at a time.
class GrpcClient {
 public:
  GrpcClient(Served& served, const std::string& system) {
    const std::string& address = served.host->server().address();
    stub_ = v1::InferenceService::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
    for (const auto& [role, content] : {std::pair<std::string, std::string>{"system", system}, {"user", "Where?"}}) {
      v1::Message& message = *request_.mutable_input()->mutable_chat()->add_messages();
      message.set_role(role);
      message.set_content(content);
    }
  }
  Latency Ask() {
    const absl::Time start = absl::Now();
    Latency latency;
    grpc::ClientContext context;
    auto stream = stub_->Generate(&context, request_);
    v1::GenerateResponse event;
    while (stream->Read(&event)) {
      if (event.has_delta() && latency.first == absl::ZeroDuration()) latency.first = absl::Now() - start;
    }
    if (!stream->Finish().ok()) latency.first = absl::InfiniteDuration();
    latency.total = absl::Now() - start;
    return latency;
  }

 private:
  std::unique_ptr<v1::InferenceService::Stub> stub_;
  v1::GenerateRequest request_;
};

class HttpClient {
 public:
  HttpClient(Served& served, const std::string& system) : client_(served.host->http()->address()) {
    const nlohmann::json body = {
        {"model", "demo"},
        {"stream", true},
        {"messages", {{{"role", "system"}, {"content", system}}, {{"role", "user"}, {"content", "Where?"}}}}};
    body_ = body.dump();
  }
  Latency Ask() {
    const absl::Time start = absl::Now();
    Latency latency;
    client_.SendRequest("POST", "/v1/chat/completions", body_);
    client_.ReadUntil(" word");
    latency.first = absl::Now() - start;
    client_.ReadUntil("[DONE]\n\n\r\n0\r\n\r\n");
    latency.total = absl::Now() - start;
    return latency;
  }

 private:
  testing::RawClient client_;
  std::string body_;
};

struct LoadShape {
  int streams;
  int64_t rate;  // a second; 0 is as fast as answers come

  absl::Duration Due(int stream, int request) const {
    return rate == 0 ? absl::ZeroDuration() : absl::Seconds(1) * (stream + request * streams) / rate;
  }
};

// Waits until it is due; how late it is by then, if it is.
absl::Duration Lateness(absl::Time due) {
  absl::SleepFor(due - absl::Now());
  return absl::Now() - due;
}

template <typename Client>
std::vector<Latency> Load(Served& served, const std::string& system, const LoadShape& shape) {
  std::vector<std::vector<Latency>> parts(static_cast<size_t>(shape.streams));
  std::vector<std::thread> threads;
  const absl::Time begin = absl::Now() + absl::Milliseconds(100);  // when all are connected
  for (int stream = 0; stream < shape.streams; ++stream) {
    threads.emplace_back([&, stream] {
      Client client(served, system);
      for (int i = 0; i < kRequests / shape.streams; ++i) {
        const absl::Duration late = shape.rate == 0 ? absl::ZeroDuration() : Lateness(begin + shape.Due(stream, i));
        const Latency latency = client.Ask();
        parts[stream].push_back({late + latency.first, late + latency.total});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<Latency> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

double QuantileMs(std::vector<Latency> latencies, absl::Duration Latency::*which, double quantile) {
  std::ranges::sort(latencies, {}, which);
  const auto rank = static_cast<size_t>(quantile * static_cast<double>(latencies.size() - 1));
  return absl::ToDoubleMilliseconds(latencies[rank].*which);
}

// 11 tokens a fact, about.
std::string SystemPrompt(int64_t prompt_tokens) {
  return MakeInventory(static_cast<int>(std::max<int64_t>(1, prompt_tokens / 11))).system_prompt;
}

template <typename Client>
void WarmRequest(benchmark::State& state) {
  Served served;
  const std::string system = SystemPrompt(state.range(0));
  std::vector<Latency> latencies;
  const LoadShape shape = {.streams = static_cast<int>(state.range(1)), .rate = state.range(2)};
  for (auto _ : state) latencies = Load<Client>(served, system, shape);
  state.counters["p50_ms"] = QuantileMs(latencies, &Latency::total, 0.5);
  state.counters["p99_ms"] = QuantileMs(latencies, &Latency::total, 0.99);
  state.counters["first_ms"] = QuantileMs(latencies, &Latency::first, 0.5);
  state.SetItemsProcessed(state.iterations() * kRequests);
}

void Grid(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"prompt", "streams", "rate"});
  for (const int prompt : {64, 2048}) benchmark->Args({prompt, 1, 0})->Args({prompt, 50, 0})->Args({prompt, 50, 500});
  benchmark->Iterations(1)->UseRealTime()->Unit(benchmark::kMillisecond);
}

BENCHMARK(WarmRequest<GrpcClient>)->Apply(Grid);
BENCHMARK(WarmRequest<HttpClient>)->Apply(Grid);

}  // namespace
}  // namespace headstart
