#include "gateway/serving/service_host.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/text/utf8.h"
#include "fmt/format.h"
#include "gateway/accounting/accountant.h"
#include "gateway/dashboard/activity.h"
#include "gateway/dashboard/dashboard_service.h"
#include "gateway/http/http_identity.h"
#include "gateway/ledger/ledger.h"
#include "gateway/openai/openai_errors.h"
#include "gateway/openai/openai_service.h"
#include "gateway/server/listen_address.h"
#include "gateway/services/admin_service.h"
#include "gateway/services/call_guard.h"
#include "gateway/services/inference_service.h"
#include "gateway/services/prefix_service.h"
#include "gateway/services/usage_service.h"
#include "gateway/services/worker_pool.h"
#include "gateway/telemetry/engine_metrics.h"
#include "gateway/telemetry/metrics_page.h"
#include "gateway/telemetry/request_metrics.h"
#include "prometheus/collectable.h"

namespace headstart {
namespace {

// Where it may listen, and that it can now.
absl::Status CheckAddress(const std::string& text, std::string_view flag, const ServiceHostOptions& options,
                          CallerAccess access) {
  auto address = ParseListenAddress(text);
  if (!address.ok()) return address.status();
  if (auto status = CheckCanListen(*address, flag); !status.ok()) return status;
  const bool may_be_reached = access == CallerAccess::kByCredential || options.insecure_open;
  if (may_be_reached || address->IsLoopback()) return absl::OkStatus();
  return absl::FailedPreconditionError(fmt::format(
      "{} can be reached by other machines, and this server asks nobody for a credential: whoever reaches it can use "
      "the model and, by timing, learn what others have asked. Listen on 127.0.0.1, name a file with --keys, or accept "
      "that with --insecure-open",
      address->ToString()));
}

// The second to listen at a socket's path would take it from the first.
absl::Status CheckApart(const ServiceHostOptions& options) {
  const auto grpc = ParseListenAddress(options.grpc.listen);
  const auto http = ParseListenAddress(options.http.listen);
  const bool same = grpc.ok() && http.ok() && grpc->ToString() == http->ToString();
  if (!same || (!grpc->is_unix_socket && grpc->port == 0)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("--listen and --http-listen are both {}; give each its own address", grpc->ToString()));
}

// It stands in logs, tables and answers: one line of text.
absl::Status CheckModelName(const std::string& name) {
  const bool has_control = std::ranges::any_of(name, [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; });
  if (!has_control && IsValidUtf8(name)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "--model-name has control characters or bytes that are not UTF-8; it is one line of text");
}

CallerAccess AccessOf(const Authenticator& authenticator) {
  return authenticator.is_open() ? CallerAccess::kOpen : CallerAccess::kByCredential;
}

bool ServesHttp(const ServiceHostOptions& options) { return !options.http.listen.empty(); }

// A server that asks for no credential is not to be called by the web sites that its user visits.
HttpServerOptions ForHttp(const ServiceHostOptions& options, const Authenticator& authenticator) {
  HttpServerOptions http = options.http;
  http.local_hosts_only = authenticator.is_open() && !options.insecure_open;
  http.max_unread_bytes = options.max_unread_bytes;
  http.refuse = [&authenticator](const HttpRequest& head) -> std::optional<HttpResponse> {
    if (auto caller = AuthenticateHttp(authenticator, head); !caller.ok()) return OpenAiErrorResponse(caller.status());
    return std::nullopt;
  };
  return http;
}

}  // namespace

absl::Status ServiceHost::CheckOptions(const ServiceHostOptions& options, CallerAccess access) {
  if (auto status = CheckModelName(options.model_name); !status.ok()) return status;
  if (auto status = CheckAddress(options.grpc.listen, "--listen", options, access); !status.ok()) return status;
  if (auto status = CheckGrpcServerOptions(options.grpc); !status.ok()) return status;
  if (!ServesHttp(options)) return absl::OkStatus();
  if (auto status = CheckApart(options); !status.ok()) return status;
  if (auto status = CheckAddress(options.http.listen, "--http-listen", options, access); !status.ok()) return status;
  return CheckHttpServerOptions(options.http);
}

struct ServiceHost::State {
  State(std::unique_ptr<Engine> engine_to_serve, const ServiceHostOptions& options, const ServiceHostParts& host_parts,
        RandomSource random);
  ~State();

  absl::Status StartGrpc(const GrpcServerOptions& options);
  absl::Status StartHttp(const HttpServerOptions& options);
  HttpRouter Routes();
  void SendMetrics(HttpExchange& exchange) const;

  const ServiceHostParts parts;
  const bool open_metrics;
  std::unique_ptr<Engine> engine;
  WorkerPool workers;
  PromptHistory history;
  ServiceContext context;
  InferenceService inference;
  PrefixService prefixes;
  AdminService admin;
  std::unique_ptr<UsageService> usage;
  OpenAiService openai;
  std::unique_ptr<DashboardService> dashboard;
  std::unique_ptr<EngineMetrics> engine_metrics;
  std::unique_ptr<MetricsPage> metrics_page;
  std::unique_ptr<GrpcServer> server;
  std::unique_ptr<HttpServer> http;
};

ServiceHost::State::State(std::unique_ptr<Engine> engine_to_serve, const ServiceHostOptions& options,
                          const ServiceHostParts& host_parts, RandomSource random)
    : parts(host_parts),
      open_metrics(options.open_metrics),
      engine(std::move(engine_to_serve)),
      workers(options.tokenizer_threads, static_cast<size_t>(options.max_tokenizer_queue)),
      history(options.history),
      context{.engine = *engine,
              .authenticator = parts.authenticator,
              .workers = workers,
              .observer = parts.observer,
              .accountant = parts.accountant,
              .history = history,
              .random = std::move(random),
              .model_name = options.model_name.empty() ? engine->config().name : options.model_name,
              .limits = options.limits,
              .max_unread_bytes = options.max_unread_bytes},
      inference(context),
      prefixes(context),
      admin(context),
      openai(context, options.openai) {
  if (parts.ledger != nullptr) usage = std::make_unique<UsageService>(context, *parts.ledger);
  if (parts.activity != nullptr) dashboard = std::make_unique<DashboardService>(context, *parts.activity);
  if (parts.metrics == nullptr) return;
  engine_metrics = std::make_unique<EngineMetrics>(*engine, *parts.metrics, context.model_name);
  std::vector<const prometheus::Collectable*> sources = {parts.metrics, engine_metrics.get()};
  sources.insert(sources.end(), parts.further_metrics.begin(), parts.further_metrics.end());
  metrics_page = std::make_unique<MetricsPage>(std::move(sources));
}

// The servers first, so that no call is left; then the workers, which may still hold a request that was cut off and is
// the engine's to refuse; then the engine, whose last events still reach the context.
ServiceHost::State::~State() {
  http.reset();
  server.reset();
  workers.Stop();
  engine.reset();
}

absl::Status ServiceHost::State::StartGrpc(const GrpcServerOptions& options) {
  std::vector<NamedService> services = {{&inference, std::string(v1::InferenceService::service_full_name())},
                                        {&prefixes, std::string(v1::PrefixService::service_full_name())},
                                        {&admin, std::string(v1::AdminService::service_full_name())}};
  if (usage) services.push_back({usage.get(), std::string(v1::UsageService::service_full_name())});
  auto started = GrpcServer::Start(options, services);
  if (!started.ok()) return started.status();
  server = *std::move(started);
  return absl::OkStatus();
}

HttpRouter ServiceHost::State::Routes() {
  HttpRouter router;
  openai.AddTo(router);
  if (dashboard) dashboard->AddTo(router);
  if (metrics_page) {
    router.Add("GET", "/metrics", [this](const std::shared_ptr<HttpExchange>& exchange) { SendMetrics(*exchange); });
  }
  return router;
}

// They name tenants, and say what each of them does.
void ServiceHost::State::SendMetrics(HttpExchange& exchange) const {
  if (!open_metrics) {
    const auto caller = AuthenticateHttp(parts.authenticator, exchange.request());
    absl::Status status = caller.status();
    if (caller.ok()) status = RequireOperator(*caller, "metrics");
    if (!status.ok()) return exchange.Send(OpenAiErrorResponse(status));
  }
  exchange.Send({.content_type = MetricsPage::kContentType, .body = metrics_page->Render()});
}

absl::Status ServiceHost::State::StartHttp(const HttpServerOptions& options) {
  auto started = HttpServer::Start(options, Routes());
  if (!started.ok()) return started.status();
  http = *std::move(started);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ServiceHost>> ServiceHost::Start(std::unique_ptr<Engine> engine,
                                                                const ServiceHostOptions& options,
                                                                const ServiceHostParts& parts, RandomSource random) {
  if (auto status = CheckOptions(options, AccessOf(parts.authenticator)); !status.ok()) return status;
  std::unique_ptr<ServiceHost> host(
      new ServiceHost(std::make_unique<State>(std::move(engine), options, parts, std::move(random))));
  if (auto status = host->state_->StartGrpc(options.grpc); !status.ok()) return status;
  if (!ServesHttp(options)) return host;
  if (auto status = host->state_->StartHttp(ForHttp(options, parts.authenticator)); !status.ok()) return status;
  return host;
}

ServiceHost::ServiceHost(std::unique_ptr<State> state) : state_(std::move(state)) {}
ServiceHost::~ServiceHost() = default;

Engine& ServiceHost::engine() { return *state_->engine; }
GrpcServer& ServiceHost::server() { return *state_->server; }
HttpServer* ServiceHost::http() { return state_->http.get(); }
const std::string& ServiceHost::model_name() const { return state_->context.model_name; }

void ServiceHost::Drain(std::function<void()> drained) {
  state_->server->SetServing(false);
  if (state_->http) state_->http->SetServing(false);
  state_->context.stopping = true;
  state_->engine->Drain(std::move(drained));
}

void ServiceHost::EndAll() { state_->engine->EndAll(); }

void ServiceHost::Shutdown(absl::Duration grace) {
  const absl::Time end = absl::Now() + grace;
  state_->server->Shutdown(grace);
  if (state_->http) state_->http->Shutdown(std::max(absl::ZeroDuration(), end - absl::Now()));
}

}  // namespace headstart
