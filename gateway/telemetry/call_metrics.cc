#include "gateway/telemetry/call_metrics.h"

#include <algorithm>

#include "absl/status/status.h"

namespace headstart {

void CallMetrics::OnCallAnswered(std::string_view method, grpc::StatusCode code) {
  constexpr size_t kUnknown = grpc::StatusCode::UNKNOWN;
  const auto index = static_cast<size_t>(code);
  MutexLock lock(mutex_);
  auto found = counts_.find(method);
  if (found == counts_.end()) found = counts_.emplace(std::string(method), std::array<int64_t, kCodes>{}).first;
  ++found->second[index < kCodes ? index : kUnknown];
}

std::vector<prometheus::MetricFamily> CallMetrics::Collect() const {
  const Counts counts = [this] {
    MutexLock lock(mutex_);
    return counts_;
  }();
  auto family = CounterFamily("headstart_grpc_calls_total", "gRPC calls that were answered, by status code");
  for (const auto& [method, codes] : counts) {
    for (size_t code = 0; code < kCodes; ++code) {
      if (codes[code] == 0) continue;
      // Abseil's codes are gRPC's, and so are their names.
      const std::string name = absl::StatusCodeToString(static_cast<absl::StatusCode>(code));
      AddCounter(family, {{"method", method}, {"code", name}}, codes[code]);
    }
  }
  return {std::move(family)};
}

}  // namespace headstart
