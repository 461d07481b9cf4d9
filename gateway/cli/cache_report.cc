#include "gateway/cli/cache_report.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "gateway/cli/report.h"
#include "gateway/config/byte_size.h"
#include "google/protobuf/timestamp.pb.h"

namespace headstart {
namespace {

constexpr char kDiskNote[] =
    "\nThe disk holds less than --disk-cache-size: the rest is kept free for what its database needs beside the "
    "blocks.\n";

absl::Time ToTime(const google::protobuf::Timestamp& time) {
  return absl::FromUnixSeconds(time.seconds()) + absl::Nanoseconds(time.nanos());
}

std::string FormatTime(const google::protobuf::Timestamp& time) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", ToTime(time), absl::UTCTimeZone());
}

std::string WholeSeconds(absl::Duration duration) {
  return absl::FormatDuration(absl::Trunc(duration, absl::Seconds(1)));
}

// Display names are other people's words: nothing in them may steer a terminal.
std::string Printable(std::string_view text) {
  std::string result(text);
  std::ranges::replace_if(
      result, [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }, '?');
  return result;
}

std::string_view ScopeName(v1::PrefixScope scope) { return scope == v1::PREFIX_SCOPE_PUBLIC ? "public" : "own"; }

std::string_view TierLabel(v1::Tier tier) {
  switch (tier) {
    case v1::TIER_DEVICE:
      return "device";
    case v1::TIER_HOST:
      return "host";
    case v1::TIER_DISK:
      return "disk";
    default:
      return "unknown";
  }
}

std::string_view StateName(const v1::TierStatus& tier) {
  if (!tier.configured()) return "none";
  return tier.on() ? "on" : "off";
}

std::vector<std::string> TierRow(const v1::TierStatus& tier) {
  const auto counter = [](bool counted, int64_t value) { return counted ? std::to_string(value) : std::string("-"); };
  return {std::string(TierLabel(tier.tier())),
          std::string(StateName(tier)),
          ReadableByteSize(tier.used_bytes()),
          ReadableByteSize(tier.capacity_bytes()),
          std::to_string(tier.used_blocks()),
          std::to_string(tier.capacity_blocks()),
          counter(tier.has_loaded_blocks(), tier.loaded_blocks()),
          counter(tier.has_stored_blocks(), tier.stored_blocks()),
          counter(tier.has_evicted_blocks(), tier.evicted_blocks()),
          counter(tier.has_failures(), tier.failures())};
}

std::string FormatTiers(const v1::GetStatusResponse& status) {
  std::vector<std::vector<std::string>> rows = {
      {"tier", "state", " used", " of", " blocks", " of", " loaded", " stored", " evicted", " failures"}};
  bool has_disk = false;
  for (const auto& tier : status.tiers()) {
    rows.push_back(TierRow(tier));
    has_disk |= tier.tier() == v1::TIER_DISK && tier.configured();
  }
  return FormatTable(rows) + (has_disk ? kDiskNote : "");
}

std::string FormatRequests(const v1::RequestStatus& requests) {
  return fmt::format("{} running, {} waiting ({} for a prefix), {} finished, {} preempted", requests.running(),
                     requests.waiting(), requests.waiting_for_prefix(), requests.finished(), requests.preemptions());
}

std::string FormatCache(const v1::CacheStatus& cache) {
  const double percent = cache.queried_tokens() == 0 ? 0
                                                     : 100.0 * static_cast<double>(cache.hit_tokens()) /
                                                           static_cast<double>(cache.queried_tokens());
  return fmt::format("{} of {} prompt tokens found ({:.1f}%), {} written, {} sooner computed than loaded",
                     cache.hit_tokens(), cache.queried_tokens(), percent, cache.written_tokens(),
                     cache.recomputed_by_choice_tokens());
}

using Lines = std::vector<std::pair<std::string_view, std::string>>;

std::string FormatLines(const Lines& lines) {
  size_t width = 0;
  for (const auto& [name, value] : lines) width = std::max(width, name.size());
  std::string text;
  for (const auto& [name, value] : lines) text += fmt::format("{:<{}}  {}\n", name, width, value);
  return text;
}

}  // namespace

std::string FormatExpiry(const v1::Prefix& prefix, absl::Time now) {
  if (!prefix.has_expire_time()) return "never";
  const absl::Duration left = ToTime(prefix.expire_time()) - now;
  return left <= absl::ZeroDuration() ? "now" : "in " + WholeSeconds(left);
}

std::string FormatPrefixes(const v1::ListPrefixesResponse& prefixes, absl::Time now) {
  if (prefixes.prefixes().empty()) return "no prefixes; register one with `headstart cache warm`\n";
  std::vector<std::vector<std::string>> rows = {
      {"id", "scope", " tokens", " pinned", " device", " host", " disk", "expires", "name"}};
  for (const auto& prefix : prefixes.prefixes()) {
    const v1::TierTokens& tiers = prefix.tokens_by_tier();
    rows.push_back({prefix.id(), std::string(ScopeName(prefix.scope())), std::to_string(prefix.tokens()),
                    std::to_string(prefix.pinned_tokens()), std::to_string(tiers.device()),
                    std::to_string(tiers.host()), std::to_string(tiers.disk()), FormatExpiry(prefix, now),
                    Printable(prefix.display_name())});
  }
  return FormatTable(rows);
}

std::string FormatPrefix(const v1::Prefix& prefix, absl::Time now) {
  const v1::TierTokens& tiers = prefix.tokens_by_tier();
  std::string expires = FormatExpiry(prefix, now);
  if (prefix.has_expire_time()) expires += fmt::format(" ({})", FormatTime(prefix.expire_time()));
  return FormatLines({{"id", prefix.id()},
                      {"name", Printable(prefix.display_name())},
                      {"scope", std::string(ScopeName(prefix.scope()))},
                      {"tokens", fmt::format("{} ({} pinned)", prefix.tokens(), prefix.pinned_tokens())},
                      {"where", fmt::format("{} device, {} host, {} disk", tiers.device(), tiers.host(), tiers.disk())},
                      {"created", FormatTime(prefix.create_time())},
                      {"expires", expires}});
}

std::string FormatStatus(const v1::GetStatusResponse& status) {
  const v1::CacheStatus& cache = status.cache();
  return FormatLines({{"version", status.version()},
                      {"model", fmt::format("{} ({})", status.model().name(), status.model().architecture())},
                      {"fingerprint", status.model().fingerprint()},
                      {"up", WholeSeconds(ToAbsl(status.uptime()))},
                      {"requests", FormatRequests(status.requests())},
                      {"cache", FormatCache(cache)},
                      {"trouble", fmt::format("{} blocks dropped, {} bad", cache.dropped_blocks(), cache.bad_blocks())},
                      {"transfers", fmt::format("{} pending", cache.transfers_pending())}}) +
         "\n" + FormatTiers(status);
}

}  // namespace headstart
