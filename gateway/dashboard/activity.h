// Activity: what requests did in the last hour and since the start, in the few numbers that a dashboard shows.
//
// Thread-safety: every method may be called from any thread; what is recorded takes a lock for less than a microsecond.
// Memory: bounded, whatever the load: an hour of intervals, the slowest requests, and the tenants that use most.

#ifndef HEADSTART_GATEWAY_DASHBOARD_ACTIVITY_H_
#define HEADSTART_GATEWAY_DASHBOARD_ACTIVITY_H_

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "engine/mutex.h"
#include "gateway/dashboard/time_histogram.h"
#include "gateway/ledger/billing_observer.h"
#include "gateway/services/request_observer.h"

namespace headstart {

// Sums over some requests.
struct ActivitySums {
  int64_t requests = 0;
  int64_t device_tokens = 0;  // of prompts, by where their KV came from
  int64_t host_tokens = 0;
  int64_t disk_tokens = 0;
  int64_t remote_tokens = 0;
  int64_t computed_tokens = 0;
  int64_t completion_tokens = 0;
  int64_t cost_nanos = 0;  // as the account has it
  int64_t saved_nanos = 0;

  int64_t cached_tokens() const { return device_tokens + host_tokens + disk_tokens + remote_tokens; }
  int64_t prompt_tokens() const { return cached_tokens() + computed_tokens; }
  void Add(const GenerationUsage& usage);
};

// A stretch of time.
struct ActivityInterval {
  absl::Time start;
  ActivitySums sums = {};
  TimeHistogram ttft_cold = {};  // of requests that found less than a tenth of their prompt
  TimeHistogram ttft_warm = {};  // of those that found at least half of it
};

// One request that took long to its first token.
struct SlowRequest {
  absl::Time time;
  std::string request_id;
  std::string tenant;
  absl::Duration ttft;
  absl::Duration queue;
  int64_t prompt_tokens = 0;
  int64_t cached_tokens = 0;
  MissReason miss_reason = MissReason::kNone;
};

// Requests that computed something, by why.
struct MissSums {
  int64_t requests = 0;
  int64_t computed_tokens = 0;
};

struct ActivitySnapshot {
  absl::Time start;
  std::string currency;
  ActivitySums total;
  std::vector<ActivityInterval> intervals;  // oldest first, without gaps, the running one last
  std::map<std::string, ActivitySums> tenants;
  std::map<MissReason, MissSums> misses;
  std::vector<SlowRequest> slowest;  // of the last hour
};

struct ActivityOptions {
  absl::Duration interval = absl::Seconds(10);
  int intervals = 360;
  size_t slowest = 10;
  size_t tenants = 1000;  // the rest is "other"
  std::function<absl::Time()> now = absl::Now;
};

inline constexpr char kOtherTenants[] = "(other tenants)";

class Activity final : public RequestObserver, public BillingObserver {
 public:
  explicit Activity(const ActivityOptions& options = {});

  void OnRequestFinished(const RequestRecord& record) override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnBilled(const v1::UsageEntry& entry, const v1::UsageTotals& added) override ABSL_LOCKS_EXCLUDED(mutex_);

  ActivitySnapshot Snapshot() ABSL_LOCKS_EXCLUDED(mutex_);

  // One tenant's sums since the start.
  ActivitySums SumsOf(const std::string& tenant) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  ActivityInterval& Current() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  ActivitySums& TenantSums(const std::string& tenant) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AddTtft(const RequestRecord& record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AddMiss(const GenerationUsage& usage) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AddSlow(const RequestRecord& record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ForgetOldSlow() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const ActivityOptions options_;
  const absl::Time start_;
  Mutex mutex_;
  std::string currency_ ABSL_GUARDED_BY(mutex_);
  ActivitySums total_ ABSL_GUARDED_BY(mutex_);
  std::deque<ActivityInterval> intervals_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, ActivitySums> tenants_ ABSL_GUARDED_BY(mutex_);
  std::map<MissReason, MissSums> misses_ ABSL_GUARDED_BY(mutex_);
  std::vector<SlowRequest> slowest_ ABSL_GUARDED_BY(mutex_);  // the slowest first
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_DASHBOARD_ACTIVITY_H_
