// EngineMetrics: the levels and counts of the engine and its cache, read when a page is asked for; and under the names
// that vLLM gave them, so that routers which know those work unconfigured.
//
// Thread-safety: Collect may be called from any thread.
// Ownership: borrows the engine and the requests' metrics, which outlive every Collect.
// Cost: a snapshot of the engine's counts, which the scheduler's thread leaves after each step; no step waits for it.

#ifndef HEADSTART_GATEWAY_TELEMETRY_ENGINE_METRICS_H_
#define HEADSTART_GATEWAY_TELEMETRY_ENGINE_METRICS_H_

#include <string>
#include <vector>

#include "engine/engine.h"
#include "gateway/telemetry/families.h"
#include "gateway/telemetry/request_metrics.h"
#include "prometheus/collectable.h"

namespace headstart {

class EngineMetrics final : public prometheus::Collectable {
 public:
  // `model_name` is what requests call the model.
  EngineMetrics(const Engine& engine, const RequestMetrics& requests, std::string model_name);

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const Engine& engine_;
  const RequestMetrics& requests_;
  const std::string model_name_;
  const double block_bytes_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_TELEMETRY_ENGINE_METRICS_H_
