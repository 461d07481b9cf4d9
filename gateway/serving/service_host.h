// ServiceHost: an engine served over gRPC and HTTP: everything between an open model and listening ports, put together
// and taken apart in the right order.
//
// Thread-safety: every method may be called from any thread, except destruction.
// Ownership: owns engine, workers, services and server; borrows its parts. Destruction cancels what runs.

#ifndef HEADSTART_GATEWAY_SERVING_SERVICE_HOST_H_
#define HEADSTART_GATEWAY_SERVING_SERVICE_HOST_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/engine.h"
#include "gateway/auth/authenticator.h"
#include "gateway/dashboard/activity.h"
#include "gateway/dashboard/dashboard_service.h"
#include "gateway/http/http_server.h"
#include "gateway/ledger/ledger.h"
#include "gateway/openai/openai_service.h"
#include "gateway/server/grpc_server.h"
#include "gateway/services/admin_service.h"
#include "gateway/services/inference_service.h"
#include "gateway/services/prefix_service.h"
#include "gateway/services/random_source.h"
#include "gateway/services/usage_service.h"
#include "gateway/services/worker_pool.h"
#include "gateway/telemetry/engine_metrics.h"
#include "gateway/telemetry/metrics_page.h"
#include "gateway/telemetry/request_metrics.h"
#include "prometheus/collectable.h"

namespace headstart {

struct ServiceHostOptions {
  GrpcServerOptions grpc = {};
  HttpServerOptions http = {.listen = ""};  // an empty address: there is no HTTP server
  OpenAiOptions openai = {};
  RequestLimits limits = {};
  int64_t max_unread_bytes = 16 << 20;  // of an answer that its client has not read
  std::string model_name = {};          // empty: the model's own
  int tokenizer_threads = 2;            // so that one huge prompt does not hold up all others
  int max_tokenizer_queue = 1024;
  PromptHistoryOptions history = {};
  bool open_metrics = false;   // /metrics asks for no credential; otherwise operators alone read it
  bool insecure_open = false;  // allows other machines to call a server that asks for no credential
};

// What a host is built on. All of it outlives the host.
struct ServiceHostParts {
  const Authenticator& authenticator;
  RequestObserver& observer;
  Accountant& accountant;
  const Ledger* ledger = nullptr;     // null: there is no UsageService
  Activity* activity = nullptr;       // null: there is no dashboard
  RequestMetrics* metrics = nullptr;  // null: there is no /metrics
  std::vector<const prometheus::Collectable*> further_metrics = {};
};

class ServiceHost {
 public:
  // Besides GrpcServer's errors: FAILED_PRECONDITION when others could call and the authenticator asks for no
  // credential.
  static absl::StatusOr<std::unique_ptr<ServiceHost>> Start(std::unique_ptr<Engine> engine,
                                                            const ServiceHostOptions& options,
                                                            const ServiceHostParts& parts,
                                                            RandomSource random = SystemRandom());

  // The checks of Start that need no engine, for before a model is loaded.
  static absl::Status CheckOptions(const ServiceHostOptions& options, const Authenticator& authenticator);

  ~ServiceHost();
  ServiceHost(const ServiceHost&) = delete;
  ServiceHost& operator=(const ServiceHost&) = delete;

  // Health says NOT_SERVING and new generations are refused; `drained` is called when the last running one has ended.
  void Drain(std::function<void()> drained);

  // Takes no more calls; what clients still have to read gets up to `grace`.
  void Shutdown(absl::Duration grace);

  Engine& engine() { return *engine_; }
  GrpcServer& server() { return *server_; }
  HttpServer* http() { return http_.get(); }  // null without one
  const std::string& model_name() const { return context_.model_name; }

 private:
  ServiceHost(std::unique_ptr<Engine> engine, const ServiceHostOptions& options, const ServiceHostParts& parts,
              RandomSource random);

  absl::Status StartGrpc(const GrpcServerOptions& options);
  absl::Status StartHttp(const HttpServerOptions& options);
  HttpRouter Routes();
  void SendMetrics(HttpExchange& exchange) const;

  const ServiceHostParts parts_;
  const bool open_metrics_;
  std::unique_ptr<Engine> engine_;
  WorkerPool workers_;
  PromptHistory history_;
  ServiceContext context_;
  InferenceService inference_;
  PrefixService prefixes_;
  AdminService admin_;
  std::unique_ptr<UsageService> usage_;
  OpenAiService openai_;
  std::unique_ptr<DashboardService> dashboard_;
  std::unique_ptr<EngineMetrics> engine_metrics_;
  std::unique_ptr<MetricsPage> metrics_page_;
  std::unique_ptr<GrpcServer> server_;
  std::unique_ptr<HttpServer> http_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVING_SERVICE_HOST_H_
