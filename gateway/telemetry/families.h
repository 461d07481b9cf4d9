// Building blocks of a metrics page: families of samples, in the types of prometheus-cpp.
//
// Thread-safety: free functions and plain values.

#ifndef HEADSTART_GATEWAY_TELEMETRY_FAMILIES_H_
#define HEADSTART_GATEWAY_TELEMETRY_FAMILIES_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "prefix_store/seconds_histogram.h"
#include "prometheus/client_metric.h"
#include "prometheus/metric_family.h"

namespace headstart {

using MetricLabels = std::vector<prometheus::ClientMetric::Label>;

prometheus::MetricFamily CounterFamily(std::string name, std::string help);
prometheus::MetricFamily GaugeFamily(std::string name, std::string help);
prometheus::MetricFamily HistogramFamily(std::string name, std::string help);

// One more sample. REQUIRES: the family is of that type.
void AddCounter(prometheus::MetricFamily& family, MetricLabels labels, int64_t value);
void AddGauge(prometheus::MetricFamily& family, MetricLabels labels, double value);

// Families of a single sample without labels.
prometheus::MetricFamily OneCounter(std::string name, std::string help, int64_t value);
prometheus::MetricFamily OneGauge(std::string name, std::string help, double value);

// How often values fell into which range. Not thread-safe.
class Histogram {
 public:
  // Upper bounds, ascending; what is above the last is counted, too.
  explicit Histogram(std::span<const double> bounds) : bounds_(bounds), counts_(bounds.size() + 1) {}

  explicit Histogram(const SecondsHistogram& times);

  void Observe(double value, int64_t times = 1);
  // REQUIRES: the same bounds.
  void Add(const Histogram& other);
  void AddTo(prometheus::MetricFamily& family, MetricLabels labels) const;
  int64_t count() const { return count_; }

 private:
  std::span<const double> bounds_;  // constants
  std::vector<int64_t> counts_;
  int64_t count_ = 0;
  double sum_ = 0;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_TELEMETRY_FAMILIES_H_
