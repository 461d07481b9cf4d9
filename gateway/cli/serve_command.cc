#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "fmt/format.h"
#include "gateway/cli/commands.h"
#include "gateway/cli/load_progress.h"
#include "gateway/cli/model_opener.h"
#include "gateway/cli/report.h"
#include "gateway/config/account_flags.h"
#include "gateway/config/auth_flags.h"
#include "gateway/config/engine_flags.h"
#include "gateway/config/flags.h"
#include "gateway/config/http_flags.h"
#include "gateway/config/server_flags.h"
#include "gateway/config/telemetry_flags.h"
#include "gateway/server/request_log.h"
#include "gateway/server/signal_waiter.h"
#include "gateway/serving/serving.h"
#include "spdlog/sinks/stdout_sinks.h"

namespace headstart {
namespace {

struct ServeFlags {
  std::string model = kDemoModel;
  std::string log_level = "info";
  ServingOptions serving;
  EngineOptions engine;
  absl::Duration drain_timeout = absl::Seconds(30);
};

// After the last answer is written, what clients still have to read of it gets this long before connections close.
constexpr absl::Duration kFlushGrace = absl::Seconds(2);

spdlog::logger MakeLogger(const ServeFlags& flags) {
  spdlog::logger logger("headstart", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger.set_formatter(NewLogFormatter(flags.serving.telemetry.log_format));
  logger.set_level(spdlog::level::from_str(flags.log_level));
  logger.flush_on(spdlog::level::info);
  return logger;
}

// The logger outlives the engine.
absl::StatusOr<std::unique_ptr<Engine>> LoadEngine(const ServeFlags& flags, spdlog::logger& logger) {
  auto source = OpenModelByName(flags.model);
  if (!source.ok()) return source.status();
  EngineOptions options = flags.engine;
  options.on_event = [&logger](const std::string& event) { logger.warn("engine: {}", event); };
  auto engine = Engine::Create(*std::move(source), options, PrintLoadProgress(flags.model));
  if (!engine.ok()) return WithFlagNames(engine.status());
  return engine;
}

// What a client has to say besides the question.
std::string ClientFlags(const ServingOptions& serving) {
  std::string flags;
  if (serving.auth.uses_tls()) flags += " --tls-ca FILE";
  if (serving.auth.uses_keys()) flags += " --api-key-file FILE";
  return flags;
}

void PrintReady(ServiceHost& host, const ServeFlags& flags) {
  const std::string& address = host.server().address();
  PrintNow(
      fmt::format("headstart: serving {} at {}\n"
                  "  call it:   {} chat --server {}{} {}\n",
                  host.model_name(), address, ProgramPath(), address, ClientFlags(flags.serving),
                  flags.model == kDemoModel ? kDemoQuestion : "\"Hello\""));
  if (host.http() != nullptr) {
    PrintNow(
        fmt::format("  over HTTP: {}/v1 (OpenAI-compatible), {}/metrics\n"
                    "  dashboard: {}/\n",
                    host.http()->url(), host.http()->url(), host.http()->url()));
  }
  PrintNow("  stop it:   Ctrl-C (finishes what runs; twice stops at once)\n");
}

// Whatever asks to reload now comes too late.
SignalWaiter::Event AwaitDrained(SignalWaiter& signals, absl::Duration patience) {
  const absl::Time end = absl::Now() + patience;
  SignalWaiter::Event event;
  do {
    event = signals.Wait(std::max(absl::ZeroDuration(), end - absl::Now()));
  } while (event == SignalWaiter::Event::kReload);
  return event;
}

// Lets what runs finish, up to the limit, and then ends it. False when a second signal asked to stop at once.
bool DrainUntil(ServiceHost& host, SignalWaiter& signals, const ServeFlags& flags, spdlog::logger& logger) {
  host.Drain([&signals] { signals.Notify(); });
  logger.info("draining timeout={}", absl::FormatDuration(flags.drain_timeout));
  SignalWaiter::Event event = AwaitDrained(signals, flags.drain_timeout);
  if (event == SignalWaiter::Event::kTimeout) {
    logger.warn("drain timed out; ending what still runs");
    host.EndAll();
    event = AwaitDrained(signals, kFlushGrace);
  }
  if (event == SignalWaiter::Event::kSignal) {
    logger.warn("second signal: stopping at once");
    return false;
  }
  if (event == SignalWaiter::Event::kNotified) logger.info("drained");
  return true;
}

int Serve(const ServeFlags& flags) {
  if (auto status = CheckEngineFlags(flags.engine); !status.ok()) {
    PrintError(status);
    return kExitUsage;
  }
  SignalWaiter signals;  // first, so that every thread that follows leaves signals to it
  spdlog::logger logger = MakeLogger(flags);
  if (auto status = Serving::Check(flags.serving); !status.ok()) return PrintError(status);
  auto engine = LoadEngine(flags, logger);
  if (!engine.ok()) return PrintError(engine.status());
  auto serving = Serving::Start(*std::move(engine), flags.serving, logger);
  if (!serving.ok()) return PrintError(serving.status());
  ServiceHost& host = (*serving)->host();
  PrintReady(host, flags);
  logger.info("serving model={} address={} http={} context_tokens={}", host.model_name(), host.server().address(),
              host.http() == nullptr ? "none" : host.http()->url(), host.engine().max_context_tokens());

  while (signals.Wait(absl::InfiniteDuration()) == SignalWaiter::Event::kReload) (*serving)->ReadFilesAnew();
  if (!DrainUntil(host, signals, flags, logger)) std::_Exit(kExitFailure);
  host.Shutdown(kFlushGrace);
  serving->reset();
  logger.info("stopped");
  return kExitOk;
}

void AddServeFlags(CLI::App& app, ServeFlags& flags) {
  app.add_option("--model", flags.model, kModelHelp)->capture_default_str();
  app.add_option("--model-name", flags.serving.host.model_name, "What requests call the model; empty is its own name");
  AddServerFlags(app, flags.serving.host.grpc);
  app.add_flag("--insecure-open", flags.serving.host.insecure_open,
               "Listen where other machines can call, though no credential is asked for. Only for closed networks");
  AddHttpFlags(app, flags.serving.host.http);
  AddOpenAiFlags(app, flags.serving.host.openai);
  AddAuthFlags(app, flags.serving.auth);
  AddAccountFlags(app, flags.serving.account);
  AddPromptHistoryFlags(app, flags.serving.host.history);
  AddTelemetryFlags(app, flags.serving.telemetry);
  AddEngineFlags(app, flags.engine);
  AddLimitFlags(app, flags.serving.host.limits);
  AddByteSize(app, "--max-unread-size", flags.serving.host.max_unread_bytes,
              "Of an answer that its client has not read; slower clients are cut off");
  AddDuration(app, "--drain-timeout", flags.drain_timeout,
              "On SIGTERM or SIGINT, how long running answers may take to finish");
  app.add_option("--log-level", flags.log_level, "How much is logged")
      ->check(CLI::IsMember({"debug", "info", "warn", "error", "off"}))
      ->capture_default_str();
}

}  // namespace

void AddServeCommand(CLI::App& app, Action& action) {
  auto flags = std::make_shared<ServeFlags>();
  CLI::App* command = app.add_subcommand("serve", "Serve a model over gRPC and HTTP");
  command->footer(
      "\nExamples:\n"
      "  headstart serve\n"
      "  headstart serve --model /models/Qwen3-0.6B --listen 127.0.0.1:9000 --kv-cache-size 4GiB --threads 8\n"
      "  headstart serve --host-cache-size 16GiB --disk-cache-dir /var/cache/headstart --disk-cache-size 64GiB\n"
      "  headstart serve --config headstart.toml      # [serve] / listen = \"127.0.0.1:9000\" / kv-cache-size = "
      "\"4GiB\"\n");
  AddServeFlags(*command, *flags);
  command->callback([flags, &action] { action = [flags] { return Serve(*flags); }; });
}

}  // namespace headstart
