#include "gateway/ledger/storage_meter.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "fmt/format.h"
#include "gateway/ledger/internal/ledger_keys.h"

namespace headstart {
namespace {

using ledger_internal::HourOf;

// A prefix that was deleted and created again under its name is another one.
std::string IdOf(const CachedPrefix& prefix) {
  return fmt::format("storage/{}/{}/{}", prefix.scope.is_public() ? "public" : "tenant", prefix.id,
                     absl::ToUnixNanos(prefix.created));
}

}  // namespace

std::shared_ptr<StorageMeter> StorageMeter::Create(Settings settings) {
  return std::shared_ptr<StorageMeter>(new StorageMeter(std::move(settings)));
}

void StorageMeter::Tick() {
  settings_.prefixes([self = shared_from_this()](const std::vector<CachedPrefix>& prefixes) { self->See(prefixes); });
}

void StorageMeter::See(const std::vector<CachedPrefix>& prefixes) {
  const absl::Time now = settings_.now();
  MutexLock lock(mutex_);
  for (const CachedPrefix& prefix : prefixes) See(prefix, now);
  for (auto entry = kept_.begin(); entry != kept_.end();) {
    auto& [id, kept] = *entry;
    const bool is_gone = kept.seen < now || kept.expires <= now;
    const absl::Time end = kept.expires <= now ? kept.expires : kept.seen;
    RecordUntil(id, kept, end, is_gone ? Begun::kRecord : Begun::kLeave);
    entry = is_gone ? kept_.erase(entry) : std::next(entry);
  }
}

void StorageMeter::See(const CachedPrefix& prefix, absl::Time now) {
  // Ids are the tenants' own to choose.
  const std::string key = fmt::format("{}\n{}", prefix.scope.tenant(), IdOf(prefix));
  const auto [kept, is_new] = kept_.try_emplace(key);
  if (is_new) {
    kept->second = {.tenant = prefix.scope.tenant(),
                    .tokens = prefix.tokens,
                    .from = std::max(prefix.created, HourOf(now)),
                    .seen = now,
                    .expires = prefix.expires};
  }
  // One that expired and is still listed was recorded up to its end.
  if (is_new && prefix.expires <= now) kept->second.from = now;
  kept->second.seen = now;
  kept->second.expires = prefix.expires;
}

void StorageMeter::Settle(std::function<void()> done) {
  settings_.prefixes([self = shared_from_this(), done = std::move(done)](const std::vector<CachedPrefix>& prefixes) {
    self->See(prefixes);
    self->RecordBegun();
    done();
  });
}

void StorageMeter::RecordBegun() {
  const absl::Time now = settings_.now();
  MutexLock lock(mutex_);
  for (auto& [id, kept] : kept_) {
    const absl::Time until = std::min(now, kept.expires);
    RecordUntil(id, kept, until, Begun::kLeave);
    Kept copy = kept;  // the begun hour is recorded again, and longer, when it is over
    RecordUntil(id, copy, until, Begun::kRecord);
  }
}

void StorageMeter::RecordUntil(const std::string& id, Kept& kept, absl::Time until, Begun begun) {
  while (kept.from < until) {
    const absl::Time hour = HourOf(kept.from);
    const absl::Time hour_end = hour + absl::Hours(1);
    if (until < hour_end && begun == Begun::kLeave) return;
    const absl::Time end = std::min(until, hour_end);
    settings_.record(
        {.request_id = fmt::format("{}/{}", id.substr(id.find('\n') + 1), absl::ToUnixSeconds(hour) / 3600),
         .tenant = kept.tenant,
         .model = settings_.model,
         .start = kept.from,
         .end = std::min(end, hour_end - absl::Nanoseconds(1)),
         .token_seconds = kept.tokens * absl::ToInt64Seconds(end - kept.from)});
    kept.from = end;
  }
}

}  // namespace headstart
