#include "gateway/cli/usage_report.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <utility>
#include <vector>

#include "absl/time/civil_time.h"
#include "fmt/format.h"
#include "gateway/accounting/money.h"
#include "gateway/accounting/token_conventions.h"
#include "gateway/cli/report.h"
#include "google/protobuf/util/time_util.h"
#include "nlohmann/json.hpp"

namespace headstart {
namespace {

using google::protobuf::util::TimeUtil;
using Row = std::vector<std::string>;

constexpr std::string_view kFormulaStarts = "=+-@\t\r";

// "2026-11-30 10:00", "2026-11-30".
std::string StartText(const google::protobuf::Timestamp& time, bool with_hour) {
  return absl::FormatTime(with_hour ? "%Y-%m-%d %H:%M" : "%Y-%m-%d", absl::FromUnixSeconds(time.seconds()),
                          absl::UTCTimeZone());
}

bool IsBy(const v1::ListUsageRequest& request, v1::UsageDimension dimension) {
  return std::ranges::find(request.group_by(), dimension) != request.group_by().end();
}

// Text of callers, fit for a terminal.
std::string Shown(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < ' ' || c == 0x7F; }, '?');
  return text.empty() ? "-" : text;
}

Row DimensionHeads(const v1::ListUsageRequest& request) {
  Row heads;
  if (IsBy(request, v1::USAGE_DIMENSION_TENANT)) heads.push_back("tenant");
  if (IsBy(request, v1::USAGE_DIMENSION_KEY)) heads.push_back("key");
  if (IsBy(request, v1::USAGE_DIMENSION_MODEL)) heads.push_back("model");
  if (IsBy(request, v1::USAGE_DIMENSION_LABEL)) heads.push_back(Shown(request.label_key()));
  if (IsBy(request, v1::USAGE_DIMENSION_HOUR)) {
    heads.push_back("hour (UTC)");
  } else if (IsBy(request, v1::USAGE_DIMENSION_DAY)) {
    heads.push_back("day (UTC)");
  }
  if (heads.empty()) heads.push_back("");
  return heads;
}

Row DimensionCells(const v1::ListUsageRequest& request, const v1::UsageGroup& group) {
  Row cells;
  const bool by_hour = IsBy(request, v1::USAGE_DIMENSION_HOUR);
  if (IsBy(request, v1::USAGE_DIMENSION_TENANT)) cells.push_back(Shown(group.tenant()));
  if (IsBy(request, v1::USAGE_DIMENSION_KEY)) cells.push_back(Shown(group.key_id()));
  if (IsBy(request, v1::USAGE_DIMENSION_MODEL)) cells.push_back(Shown(group.model()));
  if (IsBy(request, v1::USAGE_DIMENSION_LABEL)) cells.push_back(Shown(group.label()));
  if (by_hour || IsBy(request, v1::USAGE_DIMENSION_DAY)) cells.push_back(StartText(group.start_time(), by_hour));
  return cells;
}

std::string Percent(int64_t part, int64_t whole) {
  return whole == 0 ? "-" : fmt::format("{:.1f}%", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

void AppendFigures(const v1::UsageTotals& totals, Row& row) {
  const v1::Usage& usage = totals.usage();
  const v1::Charge& charge = totals.charge();
  row.push_back(std::to_string(totals.requests()));
  row.push_back(std::to_string(usage.prompt_tokens()));
  row.push_back(std::to_string(usage.cached_tokens()));
  row.push_back(Percent(usage.cached_tokens(), usage.prompt_tokens()));
  row.push_back(std::to_string(usage.completion_tokens()));
  row.push_back(FormatNanos(charge.cost_nanos()));
  row.push_back(FormatNanos(charge.saved_nanos()));
  row.push_back(Shown(charge.currency()));
}

std::string KindName(v1::UsageKind kind) {
  switch (kind) {
    case v1::USAGE_KIND_GENERATE:
      return "generate";
    case v1::USAGE_KIND_CREATE_PREFIX:
      return "create_prefix";
    case v1::USAGE_KIND_STORAGE:
      return "storage";
    default:
      return "";
  }
}

std::string ReasonName(v1::FinishReason reason) {
  constexpr std::string_view kPrefix = "FINISH_REASON_";
  if (reason == v1::FINISH_REASON_UNSPECIFIED) return "";
  std::string name = v1::FinishReason_Name(reason);
  if (name.starts_with(kPrefix)) name.erase(0, kPrefix.size());
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

// In the labels' order.
std::string LabelsJson(const v1::UsageEntry& entry) {
  if (entry.labels().empty()) return "";
  const std::map<std::string, std::string> labels(entry.labels().begin(), entry.labels().end());
  return nlohmann::json(labels).dump(-1, ' ', /*ensure_ascii=*/false, nlohmann::json::error_handler_t::replace);
}

// Name and content of every column, in order. Text columns are the callers' own words.
struct Column {
  std::string_view name;
  std::string (*cell)(const v1::UsageEntry& entry);
};

using Entry = const v1::UsageEntry&;
std::string Number(int64_t number) { return std::to_string(number); }

constexpr Column kColumns[] = {
    {"kind", [](Entry e) { return KindName(e.kind()); }},
    {"tenant", [](Entry e) { return CsvText(e.tenant()); }},
    {"key_id", [](Entry e) { return CsvText(e.key_id()); }},
    {"model", [](Entry e) { return CsvText(e.model()); }},
    {"request_id", [](Entry e) { return CsvText(e.request_id()); }},
    {"start_time", [](Entry e) { return TimeUtil::ToString(e.start_time()); }},
    {"end_time", [](Entry e) { return TimeUtil::ToString(e.end_time()); }},
    {"update_time", [](Entry e) { return TimeUtil::ToString(e.update_time()); }},
    {"finish_reason", [](Entry e) { return ReasonName(e.finish_reason()); }},
    {"attempts", [](Entry e) { return Number(e.attempts()); }},
    {"prompt_tokens", [](Entry e) { return Number(e.usage().prompt_tokens()); }},
    {"cached_tokens", [](Entry e) { return Number(e.usage().cached_tokens()); }},
    {"computed_prompt_tokens", [](Entry e) { return Number(e.usage().computed_prompt_tokens()); }},
    {"cached_device_tokens", [](Entry e) { return Number(e.usage().cached_by_tier().device()); }},
    {"cached_host_tokens", [](Entry e) { return Number(e.usage().cached_by_tier().host()); }},
    {"cached_disk_tokens", [](Entry e) { return Number(e.usage().cached_by_tier().disk()); }},
    {"cached_remote_tokens", [](Entry e) { return Number(e.usage().cached_by_tier().remote()); }},
    {"cache_write_tokens", [](Entry e) { return Number(e.usage().cache_write_tokens()); }},
    {"completion_tokens", [](Entry e) { return Number(e.usage().completion_tokens()); }},
    {"recomputed_tokens", [](Entry e) { return Number(e.usage().recomputed_tokens()); }},
    {"input_tokens", [](Entry e) { return Number(ToExclusive(e.usage()).input_tokens); }},
    {"cache_read_input_tokens", [](Entry e) { return Number(ToExclusive(e.usage()).cache_read_input_tokens); }},
    {"cache_creation_input_tokens", [](Entry e) { return Number(ToExclusive(e.usage()).cache_creation_input_tokens); }},
    {"storage_token_seconds", [](Entry e) { return Number(e.storage_token_seconds()); }},
    {"currency", [](Entry e) { return CsvText(e.charge().currency()); }},
    {"price_version", [](Entry e) { return CsvText(e.charge().price_version()); }},
    {"cost", [](Entry e) { return FormatNanos(e.charge().cost_nanos()); }},
    {"cost_without_cache", [](Entry e) { return FormatNanos(e.charge().cost_without_cache_nanos()); }},
    {"saved", [](Entry e) { return FormatNanos(e.charge().saved_nanos()); }},
    {"labels", [](Entry e) { return CsvText(LabelsJson(e)); }},
};

struct NamedDimension {
  std::string_view name;
  v1::UsageDimension dimension;
};
constexpr NamedDimension kDimensions[] = {
    {"tenant", v1::USAGE_DIMENSION_TENANT}, {"key", v1::USAGE_DIMENSION_KEY},   {"model", v1::USAGE_DIMENSION_MODEL},
    {"label", v1::USAGE_DIMENSION_LABEL},   {"hour", v1::USAGE_DIMENSION_HOUR}, {"day", v1::USAGE_DIMENSION_DAY},
};

absl::Status ParseDimension(std::string_view word, v1::ListUsageRequest& request) {
  const size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  const std::string_view label = equals == std::string_view::npos ? "" : word.substr(equals + 1);
  const auto* known = std::ranges::find(kDimensions, name, &NamedDimension::name);
  const bool is_label = name == "label";
  if (known == std::end(kDimensions) || is_label == label.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("\"{}\" is not one of: tenant, key, model, label=NAME, hour, day; or none, alone", word));
  }
  if (IsBy(request, known->dimension)) return absl::InvalidArgumentError(fmt::format("{} is there twice", name));
  request.add_group_by(known->dimension);
  if (is_label) request.set_label_key(std::string(label));
  return absl::OkStatus();
}

constexpr int64_t kMostDaysAgo = 36500;  // a century: longer ago than any account goes back
constexpr absl::Duration kLongestAgo = absl::Hours(24 * kMostDaysAgo);

absl::Status NoTime(const std::string& text) {
  return absl::InvalidArgumentError(fmt::format(
      "\"{}\" is no time; write 7d, 12h or 90m ago, a day such as 2026-11-30, or 2026-11-30T10:00:00Z", text));
}

}  // namespace

std::string FormatUsage(const v1::ListUsageRequest& request, const v1::ListUsageResponse& usage) {
  if (usage.totals().empty()) return "no usage in this time\n";
  Row heads = DimensionHeads(request);
  const size_t dimensions = heads.size();
  for (const char* head :
       {" requests", " prompt tokens", " cached", " hit rate", " answer tokens", " cost", " saved", "currency"}) {
    heads.emplace_back(head);
  }
  std::vector<Row> rows = {heads};
  if (!request.group_by().empty()) {
    for (const auto& group : usage.groups()) {
      rows.push_back(DimensionCells(request, group));
      AppendFigures(group.totals(), rows.back());
    }
  }
  for (const auto& totals : usage.totals()) {
    rows.emplace_back(dimensions);
    rows.back().front() = "total";
    AppendFigures(totals, rows.back());
  }
  return FormatTable(rows);
}

std::string CsvText(std::string_view text) {
  std::string cell(text);
  if (!cell.empty() && kFormulaStarts.find(cell.front()) != std::string_view::npos) cell.insert(0, "'");
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + "\"";
}

std::string UsageCsvHeader() {
  std::string line;
  for (const Column& column : kColumns) line += fmt::format("{}{}", line.empty() ? "" : ",", column.name);
  return line + "\r\n";
}

std::string UsageCsvLine(const v1::UsageEntry& entry) {
  std::string line;
  for (const Column& column : kColumns) {
    line += &column == kColumns ? "" : ",";
    line += column.cell(entry);
  }
  return line + "\r\n";
}

std::string UsageJsonLine(const v1::UsageEntry& entry) { return ToJson(entry) + "\n"; }

absl::Status ParseDimensions(std::string_view words, v1::ListUsageRequest& request) {
  while (!words.empty()) {
    const size_t comma = words.find(',');
    if (absl::Status status = ParseDimension(words.substr(0, comma), request); !status.ok()) return status;
    words = comma == std::string_view::npos ? "" : words.substr(comma + 1);
  }
  return absl::OkStatus();
}

absl::StatusOr<absl::Time> ParseWhen(const std::string& text, absl::Time now) {
  const std::map<char, absl::Duration> units = {{'d', absl::Hours(24)}, {'h', absl::Hours(1)}, {'m', absl::Minutes(1)}};
  int64_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, count);
  const bool is_count = error == std::errc() || error == std::errc::result_out_of_range;
  if (const auto unit = is_count && rest + 1 == end ? units.find(*rest) : units.end();
      unit != units.end() && !text.starts_with('-')) {
    if (error == std::errc() && count <= kLongestAgo / unit->second) return now - count * unit->second;
    return absl::InvalidArgumentError(fmt::format("\"{}\" is too long ago; at most {}d are taken", text, kMostDaysAgo));
  }
  absl::CivilDay day;
  absl::Time time;
  std::string ignored;
  if (absl::ParseCivilTime(text, &day)) {
    time = absl::FromCivil(day, absl::UTCTimeZone());
  } else if (!absl::ParseTime(absl::RFC3339_full, text, &time, &ignored)) {
    return NoTime(text);
  }
  const int64_t year = absl::ToCivilYear(time, absl::UTCTimeZone()).year();
  if (year >= 1 && year <= 9999) return time;
  return absl::InvalidArgumentError(fmt::format("\"{}\" is not in the years 1 to 9999", text));
}

}  // namespace headstart
