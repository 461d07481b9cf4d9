#include "gateway/config/telemetry_flags.h"

#include "CLI/CLI.hpp"
#include "gateway/config/flags.h"

namespace headstart {
namespace {

constexpr int kMaxTenants = 100'000;  // a page of that is some 100 MB

}  // namespace

void AddTelemetryFlags(CLI::App& app, TelemetryFlags& flags) {
  app.add_option("--metrics-max-tenants", flags.metrics.max_tenants,
                 "Tenants with metrics of their own; those that come later are \"other\" together")
      ->check(CLI::Range(0, kMaxTenants))
      ->capture_default_str();
  app.add_flag(
      "--open-metrics", flags.open_metrics,
      "Give /metrics to whoever can reach it. They name tenants: without this a server with keys gives them to "
      "operators alone");
  AddChoice<LogFormat>(app, "--log-format", flags.log_format, {{"text", LogFormat::kText}, {"json", LogFormat::kJson}},
                       "How log lines look");
}

}  // namespace headstart
