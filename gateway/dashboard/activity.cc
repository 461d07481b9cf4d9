#include "gateway/dashboard/activity.h"

#include <algorithm>
#include <utility>

namespace headstart {
namespace {

// What counts as cold and as warm: what lies between tells nothing of either.
constexpr int64_t kColdBelow = 10;  // one in
constexpr int64_t kWarmFrom = 2;    // one in

bool IsCold(const GenerationUsage& usage) { return usage.cached_tokens() * kColdBelow < usage.prompt_tokens; }
bool IsWarm(const GenerationUsage& usage) { return usage.cached_tokens() * kWarmFrom >= usage.prompt_tokens; }

SlowRequest ToSlow(const RequestRecord& record) {
  return {.time = record.end,
          .request_id = record.request_id,
          .tenant = record.tenant,
          .ttft = record.timings.ttft,
          .queue = record.timings.queue,
          .prompt_tokens = record.usage.prompt_tokens,
          .cached_tokens = record.usage.cached_tokens(),
          .miss_reason = record.usage.miss_reason};
}

}  // namespace

void ActivitySums::Add(const GenerationUsage& usage) {
  ++requests;
  device_tokens += usage.cached_device_tokens;
  host_tokens += usage.cached_host_tokens;
  disk_tokens += usage.cached_disk_tokens;
  remote_tokens += usage.cached_remote_tokens;
  computed_tokens += usage.computed_prompt_tokens;
  completion_tokens += usage.completion_tokens;
}

Activity::Activity(const ActivityOptions& options) : options_(options), start_(options.now()) {}

// An hour without requests is an hour of empty intervals. A clock that is set back adds to the last one.
ActivityInterval& Activity::Current() {
  const absl::Time now = absl::UnixEpoch() + absl::Floor(options_.now() - absl::UnixEpoch(), options_.interval);
  const absl::Duration shown = options_.interval * options_.intervals;
  if (intervals_.empty() || now - intervals_.back().start > shown) {
    intervals_.clear();
    intervals_.push_back({.start = now});
  }
  while (intervals_.back().start < now) intervals_.push_back({.start = intervals_.back().start + options_.interval});
  while (intervals_.size() > static_cast<size_t>(options_.intervals)) intervals_.pop_front();
  return intervals_.back();
}

ActivitySums& Activity::TenantSums(const std::string& tenant) {
  if (const auto known = tenants_.find(tenant); known != tenants_.end()) return known->second;
  return tenants_[tenants_.size() < options_.tenants ? tenant : kOtherTenants];
}

void Activity::OnRequestFinished(const RequestRecord& record) {
  if (record.usage.prompt_tokens == 0) return;
  MutexLock lock(mutex_);
  total_.Add(record.usage);
  Current().sums.Add(record.usage);
  TenantSums(record.tenant).Add(record.usage);
  AddMiss(record.usage);
  if (record.kind != RequestKind::kGenerate || record.usage.completion_tokens == 0) return;
  AddTtft(record);
  AddSlow(record);
}

void Activity::AddTtft(const RequestRecord& record) {
  if (IsWarm(record.usage)) {
    Current().ttft_warm.Add(record.timings.ttft);
  } else if (IsCold(record.usage)) {
    Current().ttft_cold.Add(record.timings.ttft);
  }
}

void Activity::AddMiss(const GenerationUsage& usage) {
  MissSums& sums = misses_[usage.miss_reason];
  ++sums.requests;
  sums.computed_tokens += usage.computed_prompt_tokens;
}

void Activity::AddSlow(const RequestRecord& record) {
  ForgetOldSlow();
  const auto place =
      std::ranges::find_if(slowest_, [&](const SlowRequest& slow) { return slow.ttft < record.timings.ttft; });
  if (place == slowest_.end() && slowest_.size() == options_.slowest) return;
  slowest_.insert(place, ToSlow(record));
  if (slowest_.size() > options_.slowest) slowest_.pop_back();
}

void Activity::ForgetOldSlow() {
  const absl::Time oldest = options_.now() - options_.interval * options_.intervals;
  std::erase_if(slowest_, [oldest](const SlowRequest& slow) { return slow.time < oldest; });
}

void Activity::OnBilled(const v1::UsageEntry& entry, const v1::UsageTotals& added) {
  const int64_t cost = added.charge().cost_nanos();
  const int64_t saved = added.charge().saved_nanos();
  MutexLock lock(mutex_);
  if (!entry.charge().currency().empty()) currency_ = entry.charge().currency();
  for (ActivitySums* sums : {&total_, &Current().sums, &TenantSums(entry.tenant())}) {
    sums->cost_nanos += cost;
    sums->saved_nanos += saved;
  }
}

ActivitySnapshot Activity::Snapshot() {
  MutexLock lock(mutex_);
  Current();
  ForgetOldSlow();
  return {.start = start_,
          .currency = currency_,
          .total = total_,
          .intervals = {intervals_.begin(), intervals_.end()},
          .tenants = {tenants_.begin(), tenants_.end()},
          .misses = misses_,
          .slowest = slowest_};
}

ActivitySums Activity::SumsOf(const std::string& tenant) {
  MutexLock lock(mutex_);
  const auto known = tenants_.find(tenant);
  return known == tenants_.end() ? ActivitySums{} : known->second;
}

}  // namespace headstart
