// The OpenAI-compatible API alone, over the demo model and the real engine: for clients in other languages. Prints
// where it listens, and serves until its input ends.

#include <cstdio>
#include <iostream>
#include <string>

#include "fmt/format.h"
#include "gateway/accounting/no_account.h"
#include "gateway/demo/embedded_model.h"
#include "gateway/http/http_server.h"
#include "gateway/openai/openai_service.h"
#include "gateway/services/random_source.h"
#include "gateway/services/worker_pool.h"

namespace {

class NoObserver final : public headstart::RequestObserver {
 public:
  void OnRequestFinished(const headstart::RequestRecord&) override {}
};

// Takes "Bearer secret" when the program is given --key, and everybody without.
class OneKey final : public headstart::Authenticator {
 public:
  absl::StatusOr<headstart::Caller> Authenticate(const headstart::CallIdentity& call) const override {
    for (const auto& [key, value] : call.metadata) {
      if (key == "authorization" && value == "Bearer secret") return headstart::Caller{.tenant = "default"};
    }
    return absl::UnauthenticatedError("the API key is missing or wrong");
  }
  bool is_open() const override { return false; }
};

int Serve(bool with_key) {
  auto source = headstart::OpenModel(headstart::EmbeddedDemoModel(), "demo");
  auto engine = headstart::Engine::Create(*std::move(source), {});
  if (!engine.ok()) return 1;
  const OneKey one_key;
  const auto open = headstart::OpenAuthenticator();
  NoObserver observer;
  const auto accountant = headstart::NoAccount();
  headstart::PromptHistory history({});
  headstart::WorkerPool workers(1, 64);
  headstart::ServiceContext context{
      .engine = **engine,
      .authenticator = with_key ? static_cast<const headstart::Authenticator&>(one_key) : *open,
      .workers = workers,
      .observer = observer,
      .accountant = *accountant,
      .history = history,
      .random = headstart::SystemRandom(),
      .model_name = "demo",
      .limits = {}};
  headstart::OpenAiService openai(context, {});
  headstart::HttpRouter router;
  openai.AddTo(router);
  auto server = headstart::HttpServer::Start({.listen = "127.0.0.1:0"}, std::move(router));
  if (!server.ok()) return 1;
  std::cout << fmt::format("serving {}\n", (*server)->url()) << std::flush;
  for (std::string line; std::getline(std::cin, line);) {
  }
  (*server)->Shutdown(absl::Seconds(1));
  engine->reset();  // its last events still reach the context
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return Serve(argc > 1 && std::string(argv[1]) == "--key"); }
