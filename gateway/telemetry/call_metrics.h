// CallMetrics: gRPC calls by method and status code: what was refused shows here, as it never becomes a request.
//
// Thread-safety: every method may be called from any thread.

#ifndef HEADSTART_GATEWAY_TELEMETRY_CALL_METRICS_H_
#define HEADSTART_GATEWAY_TELEMETRY_CALL_METRICS_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "engine/mutex.h"
#include "gateway/server/call_observer.h"
#include "gateway/telemetry/families.h"
#include "prometheus/collectable.h"

namespace headstart {

class CallMetrics final : public CallObserver, public prometheus::Collectable {
 public:
  void OnCallAnswered(std::string_view method, grpc::StatusCode code) override ABSL_LOCKS_EXCLUDED(mutex_);
  std::vector<prometheus::MetricFamily> Collect() const override ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  static constexpr size_t kCodes = 17;  // of gRPC
  using Counts = std::map<std::string, std::array<int64_t, kCodes>, std::less<>>;

  mutable Mutex mutex_;
  Counts counts_ ABSL_GUARDED_BY(mutex_);  // by method: as many as the server has
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_TELEMETRY_CALL_METRICS_H_
