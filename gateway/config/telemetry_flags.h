// The flags of metrics and logs.

#ifndef HEADSTART_GATEWAY_CONFIG_TELEMETRY_FLAGS_H_
#define HEADSTART_GATEWAY_CONFIG_TELEMETRY_FLAGS_H_

#include "CLI/App.hpp"
#include "gateway/server/request_log.h"
#include "gateway/telemetry/request_metrics.h"

namespace headstart {

struct TelemetryFlags {
  RequestMetricsOptions metrics;
  bool open_metrics = false;  // scrapes need no credential
  LogFormat log_format = LogFormat::kText;
};

// `flags` gives the defaults and takes the values; it outlives the parsing.
void AddTelemetryFlags(CLI::App& app, TelemetryFlags& flags);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_CONFIG_TELEMETRY_FLAGS_H_
