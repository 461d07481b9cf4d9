#include "gateway/services/usage_query.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/time/civil_time.h"
#include "fmt/format.h"
#include "gateway/errors/error_details.h"
#include "gateway/ledger/usage_totals.h"
#include "gateway/services/proto_time.h"
#include "xxhash.h"

namespace headstart {
namespace {

constexpr int kDefaultPageSize = 1000;
constexpr int kMaxPageSize = 10'000;
constexpr size_t kMaxPageBytes = 2 << 20;  // half of what clients take by default
constexpr size_t kMaxGroups = 1'000'000;   // some hundred megabytes while they are summed
constexpr size_t kDigestDigits = 16;

// Where a group stands: the order of UsageGroup's fields, and currencies apart.
struct GroupKey {
  std::string tenant;
  std::string key_id;
  std::string model;
  std::string label;
  int64_t start_seconds = 0;
  std::string currency;
  friend auto operator<=>(const GroupKey&, const GroupKey&) = default;
};

using Groups = std::map<GroupKey, v1::UsageTotals>;

bool IsGroupedBy(const v1::ListUsageRequest& request, v1::UsageDimension dimension) {
  return std::ranges::find(request.group_by(), dimension) != request.group_by().end();
}

absl::Time DayOf(absl::Time time) {
  return absl::FromCivil(absl::ToCivilDay(time, absl::UTCTimeZone()), absl::UTCTimeZone());
}

GroupKey KeyOf(const UsageHour& hour, const v1::ListUsageRequest& request) {
  GroupKey key;
  key.currency = hour.currency;
  if (IsGroupedBy(request, v1::USAGE_DIMENSION_TENANT)) key.tenant = hour.tenant;
  if (IsGroupedBy(request, v1::USAGE_DIMENSION_KEY)) key.key_id = hour.key_id;
  if (IsGroupedBy(request, v1::USAGE_DIMENSION_MODEL)) key.model = hour.model;
  if (IsGroupedBy(request, v1::USAGE_DIMENSION_LABEL)) {
    const auto label = hour.labels.find(request.label_key());
    if (label != hour.labels.end()) key.label = label->second;
  }
  if (IsGroupedBy(request, v1::USAGE_DIMENSION_HOUR)) {
    key.start_seconds = absl::ToUnixSeconds(hour.start);
  } else if (IsGroupedBy(request, v1::USAGE_DIMENSION_DAY)) {
    key.start_seconds = absl::ToUnixSeconds(DayOf(hour.start));
  }
  return key;
}

bool IsWanted(const UsageHour& hour, const v1::ListUsageRequest& request) {
  return (request.tenant().empty() || hour.tenant == request.tenant()) &&
         (request.key_id().empty() || hour.key_id == request.key_id()) &&
         (request.model().empty() || hour.model == request.model());
}

// A token is of one question: page size apart, all else is the same.
std::string DigestOf(v1::ListUsageRequest request) {
  request.clear_page_token();
  request.clear_page_size();
  const std::string bytes = request.SerializeAsString();
  return fmt::format("{:016x}", XXH3_64bits(bytes.data(), bytes.size()));
}

v1::UsageGroup ToGroup(const GroupKey& key, const v1::ListUsageRequest& request) {
  v1::UsageGroup group;
  group.set_tenant(key.tenant);
  group.set_key_id(key.key_id);
  group.set_model(key.model);
  group.set_label(key.label);
  if (IsGroupedBy(request, v1::USAGE_DIMENSION_HOUR) || IsGroupedBy(request, v1::USAGE_DIMENSION_DAY)) {
    group.mutable_start_time()->set_seconds(key.start_seconds);
  }
  group.mutable_totals()->mutable_charge()->set_currency(key.currency);
  return group;
}

// The digest, and the group that the page ended with.
std::string ToToken(const GroupKey& key, const v1::ListUsageRequest& request) {
  return absl::WebSafeBase64Escape(DigestOf(request) + ToGroup(key, request).SerializeAsString());
}

absl::StatusOr<GroupKey> ParseToken(const v1::ListUsageRequest& request) {
  std::string bytes;
  v1::UsageGroup group;
  const bool is_ours = absl::WebSafeBase64Unescape(request.page_token(), &bytes) &&
                       bytes.starts_with(DigestOf(request)) && group.ParseFromString(bytes.substr(kDigestDigits));
  if (!is_ours) return InvalidField("page_token", "is not one that ListUsage gave for the same question");
  return GroupKey{.tenant = group.tenant(),
                  .key_id = group.key_id(),
                  .model = group.model(),
                  .label = group.label(),
                  .start_seconds = group.start_time().seconds(),
                  .currency = group.totals().charge().currency()};
}

absl::Status TooManyGroups() {
  return WithReason(absl::ResourceExhaustedError(fmt::format(
                        "there are more than {} groups; ask for less time, or group by fewer fields", kMaxGroups)),
                    "TOO_MANY_GROUPS");
}

absl::StatusOr<Groups> Sum(const Ledger& ledger, const v1::ListUsageRequest& request, const TimeRange& range) {
  Groups groups;
  // The hour that holds the end counts whole.
  const absl::Time end =
      range.end == absl::InfiniteFuture() ? range.end : range.end + absl::Hours(1) - absl::Nanoseconds(1);
  const absl::Status read =
      ledger.ReadHours(range.start, end, [&](const UsageHour& hour, const v1::UsageTotals& totals) {
        if (IsWanted(hour, request)) Add(totals, groups[KeyOf(hour, request)]);
        return groups.size() <= kMaxGroups;
      });
  if (!read.ok()) return read;
  if (groups.size() > kMaxGroups) return TooManyGroups();
  return groups;
}

void AddTotals(const Groups& groups, v1::ListUsageResponse& response) {
  std::map<std::string, v1::UsageTotals> by_currency;
  for (const auto& [key, totals] : groups) Add(totals, by_currency[key.currency]);
  for (auto& [currency, totals] : by_currency) *response.add_totals() = std::move(totals);
}

int PageSize(const v1::ListUsageRequest& request) {
  return request.page_size() == 0 ? kDefaultPageSize : std::min(request.page_size(), kMaxPageSize);
}

}  // namespace

absl::StatusOr<TimeRange> ParseRange(const google::protobuf::Timestamp* start, const google::protobuf::Timestamp* end) {
  TimeRange range{absl::InfinitePast(), absl::InfiniteFuture()};
  if (start != nullptr) {
    auto time = ParseTime("start_time", *start);
    if (!time.ok()) return time.status();
    range.start = *time;
  }
  if (end != nullptr) {
    auto time = ParseTime("end_time", *end);
    if (!time.ok()) return time.status();
    range.end = *time;
  }
  if (range.start <= range.end) return range;
  return InvalidField("end_time", "is before start_time");
}

absl::Status CheckUsageRequest(const v1::ListUsageRequest& request) {
  for (int i = 0; i < request.group_by_size(); ++i) {
    const auto dimension = request.group_by(i);
    const std::string field = fmt::format("group_by[{}]", i);
    if (!v1::UsageDimension_IsValid(dimension) || dimension == v1::USAGE_DIMENSION_UNSPECIFIED) {
      return InvalidField(field, fmt::format("is {}, which is no dimension", static_cast<int>(dimension)));
    }
    if (std::ranges::count(request.group_by(), dimension) > 1) {
      return InvalidField(field, "is there twice; name each dimension once");
    }
  }
  if (IsGroupedBy(request, v1::USAGE_DIMENSION_LABEL) == request.label_key().empty()) {
    return InvalidField("label_key", "names the label that is grouped by: give it with LABEL, and only then");
  }
  if (request.page_size() < 0) {
    return InvalidField("page_size",
                        fmt::format("is {}; it is at least 1, or 0 for {}", request.page_size(), kDefaultPageSize));
  }
  const auto range = ParseRange(request.has_start_time() ? &request.start_time() : nullptr,
                                request.has_end_time() ? &request.end_time() : nullptr);
  return range.status();
}

absl::StatusOr<v1::ListUsageResponse> ListUsage(const Ledger& ledger, const v1::ListUsageRequest& request) {
  if (absl::Status status = CheckUsageRequest(request); !status.ok()) return status;
  std::optional<GroupKey> last;
  if (!request.page_token().empty()) {
    auto key = ParseToken(request);
    if (!key.ok()) return key.status();
    last = *std::move(key);
  }
  const TimeRange range = *ParseRange(request.has_start_time() ? &request.start_time() : nullptr,
                                      request.has_end_time() ? &request.end_time() : nullptr);
  auto groups = Sum(ledger, request, range);
  if (!groups.ok()) return groups.status();
  v1::ListUsageResponse response;
  AddTotals(*groups, response);
  size_t bytes = 0;
  auto group = last ? groups->upper_bound(*last) : groups->begin();
  for (; group != groups->end() && response.groups_size() < PageSize(request) && bytes < kMaxPageBytes; ++group) {
    v1::UsageGroup& added = *response.add_groups();
    added = ToGroup(group->first, request);
    *added.mutable_totals() = group->second;
    bytes += added.ByteSizeLong();
  }
  if (group != groups->end()) response.set_next_page_token(ToToken(std::prev(group)->first, request));
  return response;
}

}  // namespace headstart
