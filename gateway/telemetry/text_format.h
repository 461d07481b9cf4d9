// Prometheus' text format, version 0.0.4. prometheus-cpp has a writer of its own, which takes several times as long:
// every number goes through a stream.
//
// Thread-safety: free function over values.

#ifndef HEADSTART_GATEWAY_TELEMETRY_TEXT_FORMAT_H_
#define HEADSTART_GATEWAY_TELEMETRY_TEXT_FORMAT_H_

#include <string>
#include <vector>

#include "prometheus/metric_family.h"

namespace headstart {

// Counters, gauges and histograms; families of other types have no samples. Whole numbers are written whole, as far as
// a double is exact.
std::string ToPrometheusText(const std::vector<prometheus::MetricFamily>& families);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_TELEMETRY_TEXT_FORMAT_H_
