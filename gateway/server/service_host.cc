#include "gateway/server/service_host.h"

#include <utility>

#include "fmt/format.h"
#include "gateway/server/listen_address.h"

namespace headstart {

absl::Status ServiceHost::CheckOptions(const ServiceHostOptions& options, const Authenticator& authenticator) {
  auto address = ParseListenAddress(options.grpc.listen);
  if (!address.ok()) return address.status();
  if (authenticator.is_open() && !address->IsLoopback() && !options.insecure_open) {
    return absl::FailedPreconditionError(fmt::format(
        "{} can be reached by other machines, and this server asks nobody for a credential: whoever reaches it can use "
        "the model and, by timing, learn what others have asked. Listen on 127.0.0.1, or accept that with "
        "--insecure-open",
        address->ToString()));
  }
  if (auto status = CheckGrpcServerOptions(options.grpc); !status.ok()) return status;
  return CheckCanListen(*address);
}

absl::StatusOr<std::unique_ptr<ServiceHost>> ServiceHost::Start(std::unique_ptr<Engine> engine,
                                                                const ServiceHostOptions& options,
                                                                const ServiceHostParts& parts, RandomSource random) {
  if (auto status = CheckOptions(options, parts.authenticator); !status.ok()) return status;
  std::unique_ptr<ServiceHost> host(new ServiceHost(std::move(engine), options, parts, std::move(random)));
  auto server =
      GrpcServer::Start(options.grpc, {{&host->inference_, std::string(v1::InferenceService::service_full_name())},
                                       {&host->prefixes_, std::string(v1::PrefixService::service_full_name())},
                                       {&host->admin_, std::string(v1::AdminService::service_full_name())}});
  if (!server.ok()) return server.status();
  host->server_ = *std::move(server);
  return host;
}

ServiceHost::ServiceHost(std::unique_ptr<Engine> engine, const ServiceHostOptions& options,
                         const ServiceHostParts& parts, RandomSource random)
    : engine_(std::move(engine)),
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
      admin_(context_) {}

// The server first, so that no call is left; then the engine, whose last events still reach the context.
ServiceHost::~ServiceHost() {
  server_.reset();
  engine_.reset();
}

void ServiceHost::Drain(std::function<void()> drained) {
  server_->SetServing(false);
  context_.stopping = true;
  engine_->Drain(std::move(drained));
}

}  // namespace headstart
