#include "gateway/serving/service_host.h"

#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "gateway/openai/openai_errors.h"
#include "gateway/server/listen_address.h"
#include "gateway/services/call_guard.h"

namespace headstart {
namespace {

// Where it may listen, and that it can now.
absl::Status CheckAddress(const std::string& text, const ServiceHostOptions& options,
                          const Authenticator& authenticator) {
  auto address = ParseListenAddress(text);
  if (!address.ok()) return address.status();
  if (auto status = CheckCanListen(*address); !status.ok()) return status;
  if (!authenticator.is_open() || address->IsLoopback() || options.insecure_open) return absl::OkStatus();
  return absl::FailedPreconditionError(fmt::format(
      "{} can be reached by other machines, and this server asks nobody for a credential: whoever reaches it can use "
      "the model and, by timing, learn what others have asked. Listen on 127.0.0.1, name a file with --keys, or accept "
      "that with --insecure-open",
      address->ToString()));
}

bool ServesHttp(const ServiceHostOptions& options) { return !options.http.listen.empty(); }

// A server that asks for no credential is not to be called by the web sites that its user visits.
HttpServerOptions ForHttp(const ServiceHostOptions& options, const Authenticator& authenticator) {
  HttpServerOptions http = options.http;
  http.local_hosts_only = authenticator.is_open() && !options.insecure_open;
  http.max_unread_bytes = options.max_unread_bytes;
  return http;
}

}  // namespace

absl::Status ServiceHost::CheckOptions(const ServiceHostOptions& options, const Authenticator& authenticator) {
  if (auto status = CheckAddress(options.grpc.listen, options, authenticator); !status.ok()) return status;
  if (auto status = CheckGrpcServerOptions(options.grpc); !status.ok()) return status;
  if (!ServesHttp(options)) return absl::OkStatus();
  if (auto status = CheckAddress(options.http.listen, options, authenticator); !status.ok()) return status;
  return CheckHttpServerOptions(options.http);
}

absl::StatusOr<std::unique_ptr<ServiceHost>> ServiceHost::Start(std::unique_ptr<Engine> engine,
                                                                const ServiceHostOptions& options,
                                                                const ServiceHostParts& parts, RandomSource random) {
  if (auto status = CheckOptions(options, parts.authenticator); !status.ok()) return status;
  std::unique_ptr<ServiceHost> host(new ServiceHost(std::move(engine), options, parts, std::move(random)));
  if (auto status = host->StartGrpc(options.grpc); !status.ok()) return status;
  if (!ServesHttp(options)) return host;
  if (auto status = host->StartHttp(ForHttp(options, parts.authenticator)); !status.ok()) return status;
  return host;
}

ServiceHost::ServiceHost(std::unique_ptr<Engine> engine, const ServiceHostOptions& options,
                         const ServiceHostParts& parts, RandomSource random)
    : parts_(parts),
      open_metrics_(options.open_metrics),
      engine_(std::move(engine)),
      workers_(options.tokenizer_threads, static_cast<size_t>(options.max_tokenizer_queue)),
      history_(options.history),
      context_{.engine = *engine_,
               .authenticator = parts.authenticator,
               .workers = workers_,
               .observer = parts.observer,
               .accountant = parts.accountant,
               .history = history_,
               .random = std::move(random),
               .model_name = options.model_name.empty() ? engine_->config().name : options.model_name,
               .limits = options.limits,
               .max_unread_bytes = options.max_unread_bytes},
      inference_(context_),
      prefixes_(context_),
      admin_(context_),
      openai_(context_, options.openai) {
  if (parts.ledger != nullptr) usage_ = std::make_unique<UsageService>(context_, *parts.ledger);
  if (parts.activity != nullptr) dashboard_ = std::make_unique<DashboardService>(context_, *parts.activity);
  if (parts.metrics == nullptr) return;
  engine_metrics_ = std::make_unique<EngineMetrics>(*engine_, *parts.metrics, context_.model_name);
  std::vector<const prometheus::Collectable*> sources = {parts.metrics, engine_metrics_.get()};
  sources.insert(sources.end(), parts.further_metrics.begin(), parts.further_metrics.end());
  metrics_page_ = std::make_unique<MetricsPage>(std::move(sources));
}

absl::Status ServiceHost::StartGrpc(const GrpcServerOptions& options) {
  std::vector<NamedService> services = {{&inference_, std::string(v1::InferenceService::service_full_name())},
                                        {&prefixes_, std::string(v1::PrefixService::service_full_name())},
                                        {&admin_, std::string(v1::AdminService::service_full_name())}};
  if (usage_) services.push_back({usage_.get(), std::string(v1::UsageService::service_full_name())});
  auto server = GrpcServer::Start(options, services);
  if (!server.ok()) return server.status();
  server_ = *std::move(server);
  return absl::OkStatus();
}

HttpRouter ServiceHost::Routes() {
  HttpRouter router;
  openai_.AddTo(router);
  if (dashboard_) dashboard_->AddTo(router);
  if (metrics_page_) {
    router.Add("GET", "/metrics", [this](const std::shared_ptr<HttpExchange>& exchange) { SendMetrics(*exchange); });
  }
  return router;
}

// They name tenants, and say what each of them does.
void ServiceHost::SendMetrics(HttpExchange& exchange) const {
  if (!open_metrics_) {
    const auto caller = AuthenticateHttp(parts_.authenticator, exchange.request());
    absl::Status status = caller.status();
    if (caller.ok()) status = RequireOperator(*caller, "metrics");
    if (!status.ok()) return exchange.Send(OpenAiErrorResponse(status));
  }
  exchange.Send({.content_type = MetricsPage::kContentType, .body = metrics_page_->Render()});
}

absl::Status ServiceHost::StartHttp(const HttpServerOptions& options) {
  auto server = HttpServer::Start(options, Routes());
  if (!server.ok()) return server.status();
  http_ = *std::move(server);
  return absl::OkStatus();
}

// The servers first, so that no call is left; then the engine, whose last events still reach the context.
ServiceHost::~ServiceHost() {
  http_.reset();
  server_.reset();
  engine_.reset();
}

void ServiceHost::Drain(std::function<void()> drained) {
  server_->SetServing(false);
  if (http_) http_->SetServing(false);
  context_.stopping = true;
  engine_->Drain(std::move(drained));
}

void ServiceHost::Shutdown(absl::Duration grace) {
  const absl::Time end = absl::Now() + grace;
  server_->Shutdown(grace);
  if (http_) http_->Shutdown(std::max(absl::ZeroDuration(), end - absl::Now()));
}

}  // namespace headstart
