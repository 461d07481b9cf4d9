// RequestMetrics: what requests were, by tenant: how they ended, where their tokens came from, what they cost, how long
// they took.
//
// Token and money counters come from the account, entry by entry, so that they equal its sums exactly; a server that
// keeps no account takes tokens from the records of requests. All of a page is of one moment: the parts of a request's
// prompt are in it together or not at all.
//
// Thread-safety: every method may be called from any thread.
// Cost: observers hold a lock for a few hundred nanoseconds; Collect for as long as it takes to copy the numbers.

#ifndef HEADSTART_GATEWAY_TELEMETRY_REQUEST_METRICS_H_
#define HEADSTART_GATEWAY_TELEMETRY_REQUEST_METRICS_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "engine/mutex.h"
#include "gateway/ledger/billing_observer.h"
#include "gateway/services/request_observer.h"
#include "gateway/telemetry/families.h"
#include "prometheus/collectable.h"

namespace headstart {

struct RequestMetricsOptions {
  int max_tenants = 100;      // that have labels of their own, those that come first; the rest are "other" together
  bool keeps_account = true;  // OnBilled will be called for what is used
};

class RequestMetrics final : public RequestObserver, public BillingObserver, public prometheus::Collectable {
 public:
  explicit RequestMetrics(const RequestMetricsOptions& options);

  void OnRequestFinished(const RequestRecord& record) override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnBilled(const v1::UsageEntry& entry, const v1::UsageTotals& added) override ABSL_LOCKS_EXCLUDED(mutex_);

  std::vector<prometheus::MetricFamily> Collect() const override ABSL_LOCKS_EXCLUDED(mutex_);

  // All requests together, for names that other servers use.
  Histogram TimeToFirstToken() const ABSL_LOCKS_EXCLUDED(mutex_);
  Histogram InterTokenLatency() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  static constexpr int kSources = 5;   // device, host, disk, remote, computed
  static constexpr int kOutcomes = 5;  // as FinishReason
  static constexpr int kReasons = static_cast<int>(MissReason::kOtherTenant) + 1;
  static constexpr int kWarmths = 3;  // miss, partial, hit

  struct Money {
    int64_t cost_nanos = 0;
    int64_t cost_without_cache_nanos = 0;
  };
  struct Tenant {
    std::array<int64_t, kOutcomes> generated = {};
    std::array<int64_t, kOutcomes> prefixes = {};
    std::array<int64_t, kSources> prompt_tokens = {};
    int64_t completion_tokens = 0;
    int64_t cache_write_tokens = 0;
    int64_t recomputed_tokens = 0;
    int64_t storage_token_seconds = 0;
    std::map<std::string, Money> money;  // by currency
  };
  using Tenants = std::map<std::string, Tenant>;
  struct Durations {
    std::array<Histogram, kWarmths> time_to_first_token;
    Histogram inter_token;
    Histogram end_to_end;
    Histogram tokenize;
    Histogram queue;
    Histogram load;
    Histogram prefill;
    Histogram decode;
    Histogram prompt_tokens;
    Histogram completion_tokens;
    Durations();
  };
  struct Numbers {
    Tenants tenants;
    Durations durations;
    std::array<int64_t, kReasons> misses = {};
  };

  Tenant& TenantOf(const std::string& name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static void AddDurations(const RequestRecord& record, Durations& durations);
  static void CollectRequests(const Tenants& tenants, std::vector<prometheus::MetricFamily>& families);
  static void CollectTokens(const Tenants& tenants, std::vector<prometheus::MetricFamily>& families);
  static void CollectMoney(const Tenants& tenants, std::vector<prometheus::MetricFamily>& families);
  static void CollectMisses(const Numbers& numbers, std::vector<prometheus::MetricFamily>& families);
  static void CollectDurations(const Durations& durations, std::vector<prometheus::MetricFamily>& families);

  const RequestMetricsOptions options_;
  mutable Mutex mutex_;
  Numbers numbers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_TELEMETRY_REQUEST_METRICS_H_
