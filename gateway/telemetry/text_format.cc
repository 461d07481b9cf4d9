#include "gateway/telemetry/text_format.h"

#include <cmath>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "fmt/format.h"

namespace headstart {
namespace {

constexpr double kExactBelow = 9007199254740992.0;  // 2^53: up to there a double holds every whole number

enum class Quotes { kPlain, kEscaped };

void AppendEscaped(std::string_view text, Quotes quotes, std::string& out) {
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\\' || (c == '"' && quotes == Quotes::kEscaped)) {
      out += '\\';
      out += c;
    } else {
      out += c;
    }
  }
}

void AppendNumber(double value, std::string& out) {
  if (value == std::trunc(value) && std::abs(value) <= kExactBelow) {
    fmt::format_to(std::back_inserter(out), "{}", static_cast<int64_t>(value));
  } else if (std::isinf(value)) {
    out += value > 0 ? "+Inf" : "-Inf";
  } else if (std::isnan(value)) {
    out += "NaN";
  } else {
    fmt::format_to(std::back_inserter(out), "{}", value);
  }
}

// `name="value"` for each, with commas between.
std::string TextOf(const std::vector<prometheus::ClientMetric::Label>& labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    if (!text.empty()) text += ',';
    text += name;
    text += "=\"";
    AppendEscaped(value, Quotes::kEscaped, text);
    text += '"';
  }
  return text;
}

void AppendSample(std::string_view name, std::string_view suffix, std::string_view labels, double value,
                  std::string& out) {
  out += name;
  out += suffix;
  if (!labels.empty()) {
    out += '{';
    out += labels;
    out += '}';
  }
  out += ' ';
  AppendNumber(value, out);
  out += '\n';
}

void AppendHistogram(std::string_view name, std::string_view labels,
                     const prometheus::ClientMetric::Histogram& histogram, std::string& out) {
  AppendSample(name, "_count", labels, static_cast<double>(histogram.sample_count), out);
  AppendSample(name, "_sum", labels, histogram.sample_sum, out);
  for (const auto& bucket : histogram.bucket) {
    std::string with_bound(labels);
    if (!labels.empty()) with_bound += ',';
    with_bound += "le=\"";
    AppendNumber(bucket.upper_bound, with_bound);
    with_bound += '"';
    AppendSample(name, "_bucket", with_bound, static_cast<double>(bucket.cumulative_count), out);
  }
}

std::string_view NameOf(prometheus::MetricType type) {
  switch (type) {
    case prometheus::MetricType::Counter:
      return "counter";
    case prometheus::MetricType::Gauge:
      return "gauge";
    case prometheus::MetricType::Histogram:
      return "histogram";
    default:
      return "untyped";
  }
}

void AppendHead(const prometheus::MetricFamily& family, std::string& out) {
  out += "# HELP ";
  out += family.name;
  out += ' ';
  AppendEscaped(family.help, Quotes::kPlain, out);
  out += "\n# TYPE ";
  out += family.name;
  out += ' ';
  out += NameOf(family.type);
  out += '\n';
}

void Append(const prometheus::MetricFamily& family, std::string& out) {
  AppendHead(family, out);
  for (const prometheus::ClientMetric& sample : family.metric) {
    const std::string labels = TextOf(sample.label);
    if (family.type == prometheus::MetricType::Counter)
      AppendSample(family.name, "", labels, sample.counter.value, out);
    if (family.type == prometheus::MetricType::Gauge) AppendSample(family.name, "", labels, sample.gauge.value, out);
    if (family.type == prometheus::MetricType::Histogram) AppendHistogram(family.name, labels, sample.histogram, out);
  }
}

}  // namespace

std::string ToPrometheusText(const std::vector<prometheus::MetricFamily>& families) {
  std::string text;
  for (const prometheus::MetricFamily& family : families) Append(family, text);
  return text;
}

}  // namespace headstart
