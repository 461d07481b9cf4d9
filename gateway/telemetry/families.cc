#include "gateway/telemetry/families.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace headstart {
namespace {

prometheus::MetricFamily Family(std::string name, std::string help, prometheus::MetricType type) {
  prometheus::MetricFamily family;
  family.name = std::move(name);
  family.help = std::move(help);
  family.type = type;
  return family;
}

prometheus::ClientMetric& AddSample(prometheus::MetricFamily& family, MetricLabels labels) {
  prometheus::ClientMetric& sample = family.metric.emplace_back();
  sample.label = std::move(labels);
  return sample;
}

}  // namespace

prometheus::MetricFamily CounterFamily(std::string name, std::string help) {
  return Family(std::move(name), std::move(help), prometheus::MetricType::Counter);
}

prometheus::MetricFamily GaugeFamily(std::string name, std::string help) {
  return Family(std::move(name), std::move(help), prometheus::MetricType::Gauge);
}

prometheus::MetricFamily HistogramFamily(std::string name, std::string help) {
  return Family(std::move(name), std::move(help), prometheus::MetricType::Histogram);
}

void AddCounter(prometheus::MetricFamily& family, MetricLabels labels, int64_t value) {
  AddSample(family, std::move(labels)).counter.value = static_cast<double>(value);
}

void AddGauge(prometheus::MetricFamily& family, MetricLabels labels, double value) {
  AddSample(family, std::move(labels)).gauge.value = value;
}

prometheus::MetricFamily OneCounter(std::string name, std::string help, int64_t value) {
  prometheus::MetricFamily family = CounterFamily(std::move(name), std::move(help));
  AddCounter(family, {}, value);
  return family;
}

prometheus::MetricFamily OneGauge(std::string name, std::string help, double value) {
  prometheus::MetricFamily family = GaugeFamily(std::move(name), std::move(help));
  AddGauge(family, {}, value);
  return family;
}

Histogram::Histogram(const SecondsHistogram& times)
    : bounds_(times.bounds()),
      counts_(times.counts().begin(), times.counts().end()),
      count_(times.count()),
      sum_(times.sum_seconds()) {}

void Histogram::Observe(double value, int64_t times) {
  counts_[std::ranges::lower_bound(bounds_, value) - bounds_.begin()] += times;
  count_ += times;
  sum_ += value * static_cast<double>(times);
}

void Histogram::Add(const Histogram& other) {
  for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  sum_ += other.sum_;
}

void Histogram::AddTo(prometheus::MetricFamily& family, MetricLabels labels) const {
  prometheus::ClientMetric::Histogram& histogram = AddSample(family, std::move(labels)).histogram;
  histogram.sample_count = static_cast<uint64_t>(count_);
  histogram.sample_sum = sum_;
  histogram.bucket.reserve(counts_.size());
  uint64_t below = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    below += static_cast<uint64_t>(counts_[i]);
    histogram.bucket.push_back({below, i < bounds_.size() ? bounds_[i] : std::numeric_limits<double>::infinity()});
  }
}

}  // namespace headstart
