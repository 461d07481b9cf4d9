// What `headstart usage` prints and understands.

#include "gateway/cli/usage_report.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gateway/ledger/usage_totals.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/gateway/ledger_testing.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The cells of one line of CSV, as RFC 4180 reads it.
std::vector<std::string> Cells(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (size_t i = 0; i + 2 < line.size() || (i < line.size() && line[i] != '\r'); ++i) {
    if (quoted && line[i] == '"' && line[i + 1] == '"') {
      cells.back().push_back(line[++i]);
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back().push_back(line[i]);
    }
  }
  return cells;
}

std::string Cell(const std::string& column, const v1::UsageEntry& entry) {
  const auto heads = Cells(UsageCsvHeader());
  const auto at = std::ranges::find(heads, column) - heads.begin();
  const auto cells = Cells(UsageCsvLine(entry));
  EXPECT_EQ(cells.size(), heads.size());
  return at < std::ssize(cells) ? cells[static_cast<size_t>(at)] : "no such column";
}

TEST(CsvTest, TextIsQuotedAsRfc4180Says) {
  EXPECT_EQ(CsvText("plain text"), "plain text");
  EXPECT_EQ(CsvText(""), "");
  EXPECT_EQ(CsvText("a,b"), "\"a,b\"");
  EXPECT_EQ(CsvText("say \"hi\""), "\"say \"\"hi\"\"\"");
  EXPECT_EQ(CsvText("two\nlines"), "\"two\nlines\"");
}

TEST(CsvTest, FormulasAreDefused) {
  for (const std::string text : {"=1+1", "+1", "-1", "@SUM(A1)", "\tx"}) EXPECT_EQ(CsvText(text), "'" + text);
  EXPECT_EQ(CsvText("=HYPERLINK(\"http://x\",\"y\")"), "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\"");
}

TEST(CsvTest, EveryColumnOfAnEntry) {
  v1::UsageEntry entry =
      MakeEntry({.tenant = "=acme", .id = "a,b", .completion_tokens = 7, .labels = {{"team", "x\"y"}, {"app", "1"}}});
  entry.set_finish_reason(v1::FINISH_REASON_LENGTH);
  EXPECT_EQ(Cell("kind", entry), "generate");
  EXPECT_EQ(Cell("tenant", entry), "'=acme");
  EXPECT_EQ(Cell("request_id", entry), "a,b");
  EXPECT_EQ(Cell("end_time", entry), "2026-11-30T10:00:00Z");
  EXPECT_EQ(Cell("finish_reason", entry), "length");
  EXPECT_EQ(Cell("prompt_tokens", entry), "100");
  EXPECT_EQ(Cell("cached_tokens", entry), "50");
  EXPECT_EQ(Cell("computed_prompt_tokens", entry), "50");
  EXPECT_EQ(Cell("input_tokens", entry), "34");
  EXPECT_EQ(Cell("cache_read_input_tokens", entry), "50");
  EXPECT_EQ(Cell("cache_creation_input_tokens", entry), "16");
  EXPECT_EQ(Cell("cached_remote_tokens", entry), "0");
  EXPECT_EQ(Cell("cost", entry), "0.000282");
  EXPECT_EQ(Cell("saved", entry), "0.000123");
  EXPECT_EQ(Cell("price_version", entry), "v1");
  EXPECT_THAT(Cell("labels", entry), HasSubstr("\"team\":\"x\\\"y\""));
}

TEST(CsvTest, SavingsBelowZeroStayNumbers) {
  v1::UsageEntry entry = MakeEntry({});
  entry.mutable_charge()->set_saved_nanos(-1);
  EXPECT_EQ(Cell("saved", entry), "-0.000000001");
}

TEST(UsageReportTest, TableHasGroupsAndTotals) {
  v1::ListUsageRequest request;
  ASSERT_OK(ParseDimensions("tenant,day", request));
  v1::ListUsageResponse response;
  v1::UsageGroup& group = *response.add_groups();
  group.set_tenant("acme");
  group.mutable_start_time()->set_seconds(absl::ToUnixSeconds(Ten()));
  *group.mutable_totals() = TotalsOf(MakeEntry({}));
  *response.add_totals() = group.totals();
  const std::string table = FormatUsage(request, response);
  EXPECT_THAT(table, HasSubstr("tenant  day (UTC)"));
  EXPECT_THAT(table, HasSubstr("acme    2026-11-30"));
  EXPECT_THAT(table, HasSubstr("50.0%"));
  EXPECT_THAT(table, HasSubstr("\ntotal "));
  EXPECT_THAT(table, HasSubstr("0.000327"));
  EXPECT_EQ(FormatUsage(request, {}), "no usage in this time\n");
}

TEST(UsageReportTest, DimensionsAreParsed) {
  v1::ListUsageRequest request;
  ASSERT_OK(ParseDimensions("tenant,label=team,hour", request));
  EXPECT_THAT(request.group_by(),
              ElementsAre(v1::USAGE_DIMENSION_TENANT, v1::USAGE_DIMENSION_LABEL, v1::USAGE_DIMENSION_HOUR));
  EXPECT_EQ(request.label_key(), "team");
  for (const char* wrong : {"tenants", "label", "label=", "tenant=acme", "day,day"}) {
    v1::ListUsageRequest unused;
    EXPECT_FALSE(ParseDimensions(wrong, unused).ok()) << wrong;
  }
}

TEST(UsageReportTest, TimesArePastOrDays) {
  EXPECT_EQ(*ParseWhen("7d", Ten()), Ten() - absl::Hours(7 * 24));
  EXPECT_EQ(*ParseWhen("90m", Ten()), Ten() - absl::Minutes(90));
  EXPECT_EQ(*ParseWhen("2026-11-30", Ten()), Ten() - absl::Hours(10));
  EXPECT_EQ(*ParseWhen("2026-11-30T11:00:00+01:00", Ten()), Ten());
  for (const char* wrong : {"", "7", "d", "-7d", "7 d", "yesterday", "infinite-past", "2026-13-01"}) {
    EXPECT_FALSE(ParseWhen(wrong, Ten()).ok()) << wrong;
  }
}

TEST(UsageReportTest, TimesThatNoAccountHasAreRefusedWithTheLimit) {
  EXPECT_EQ(*ParseWhen("36500d", Ten()), Ten() - 36500 * absl::Hours(24));
  for (const char* ago : {"36501d", "99999999d", "876001h", "99999999999999999999d"}) {
    EXPECT_THAT(ParseWhen(ago, Ten()), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("36500d"))) << ago;
  }
  for (const char* when : {"0000-01-01", "10000-01-01", "12345-06-07T00:00:00Z"}) {
    EXPECT_THAT(ParseWhen(when, Ten()), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("1 to 9999"))) << when;
  }
}

TEST(UsageReportTest, JsonLineIsOneLineWithZeros) {
  const std::string line = UsageJsonLine(MakeEntry({.id = "a\nb"}));
  EXPECT_EQ(std::ranges::count(line, '\n'), 1);
  EXPECT_THAT(line, HasSubstr("\"request_id\":\"a\\nb\""));
}

}  // namespace
}  // namespace headstart::testing
