// MetricsPage: what a scrape gets, in Prometheus' text format.
//
// Thread-safety: Render may be called from any thread.
// Ownership: borrows the sources, which outlive it.
//
//   RequestMetrics requests({.max_tenants = 100});                  // an observer, before the host and the account
//   EngineMetrics engine_metrics(*engine, requests, model_name);    // once the model is loaded
//   MetricsPage page({&requests, &engine_metrics});
//   response.set_content(page.Render(), MetricsPage::kContentType);

#ifndef HEADSTART_GATEWAY_TELEMETRY_METRICS_PAGE_H_
#define HEADSTART_GATEWAY_TELEMETRY_METRICS_PAGE_H_

#include <string>
#include <utility>
#include <vector>

#include "prometheus/collectable.h"

namespace headstart {

class MetricsPage {
 public:
  static constexpr char kContentType[] = "text/plain; version=0.0.4; charset=utf-8";

  // REQUIRES: no two sources have a family of the same name.
  explicit MetricsPage(std::vector<const prometheus::Collectable*> sources) : sources_(std::move(sources)) {}

  std::string Render() const;

 private:
  const std::vector<const prometheus::Collectable*> sources_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_TELEMETRY_METRICS_PAGE_H_
