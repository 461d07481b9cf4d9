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
#include "absl/time/time.h"
#include "engine/engine.h"
#include "gateway/auth/authenticator.h"
#include "gateway/http/http_server.h"
#include "gateway/insight/prompt_history.h"
#include "gateway/openai/openai_options.h"
#include "gateway/server/grpc_server.h"
#include "gateway/services/limits.h"
#include "gateway/services/random_source.h"

namespace prometheus {
class Collectable;
}

namespace headstart {

class Accountant;
class Activity;
class Ledger;
class RequestMetrics;
class RequestObserver;

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

// Whether callers show who they are.
enum class CallerAccess { kOpen, kByCredential };

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
  static absl::Status CheckOptions(const ServiceHostOptions& options, CallerAccess access);

  ~ServiceHost();
  ServiceHost(const ServiceHost&) = delete;
  ServiceHost& operator=(const ServiceHost&) = delete;

  // Health says NOT_SERVING and new generations are refused; `drained` is called when the last running one has ended.
  void Drain(std::function<void()> drained);

  // Ends what still runs, for a drain that took too long: callers hear that the server stops.
  void EndAll();

  // Takes no more calls; what clients still have to read gets up to `grace`.
  void Shutdown(absl::Duration grace);

  Engine& engine();
  GrpcServer& server();
  HttpServer* http();  // null without one
  const std::string& model_name() const;

 private:
  struct State;  // what is put together, in the order in which it depends on each other

  explicit ServiceHost(std::unique_ptr<State> state);

  const std::unique_ptr<State> state_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVING_SERVICE_HOST_H_
