#include "gateway/cli/demo_report.h"

#include <algorithm>

#include "fmt/format.h"
#include "gateway/cli/report.h"

namespace headstart {
namespace {

absl::Duration FirstTokenTime(const DemoRow& row) {
  return ToAbsl(row.answer.finished.timings().time_to_first_token());
}

std::string SpeedUp(const DemoRow& row, const DemoRow& first) {
  if (&row == &first) return "";
  const double ratio = absl::FDivDuration(FirstTokenTime(first), FirstTokenTime(row));
  return ratio < 10 ? fmt::format("{:.1f}x", ratio) : fmt::format("{:.0f}x", ratio);
}

std::vector<std::string> Cells(const DemoRow& row, const DemoRow& first, bool with_answers) {
  const v1::Usage& usage = row.answer.finished.usage();
  std::vector<std::string> cells = {row.label};
  if (with_answers) {
    cells.push_back(row.answer.text);
    cells.emplace_back(row.answer.text == row.expected ? "yes" : "NO");
  }
  cells.push_back(std::to_string(usage.prompt_tokens()));
  cells.push_back(std::to_string(usage.cached_tokens()));
  cells.push_back(std::to_string(usage.computed_prompt_tokens()));
  cells.push_back(ReadableDuration(FirstTokenTime(row)));
  cells.push_back(SpeedUp(row, first));
  return cells;
}

}  // namespace

std::string FormatDemoTable(const std::vector<DemoRow>& rows, const std::string& label_heading) {
  const bool with_answers = !rows.front().expected.empty();
  std::vector<std::string> heading = {label_heading};
  if (with_answers) heading.insert(heading.end(), {"answer", "right"});
  heading.insert(heading.end(), {" prompt", " cached", " computed", " first token", " speed-up"});
  std::vector<std::vector<std::string>> table = {heading};
  for (const DemoRow& row : rows) table.push_back(Cells(row, rows.front(), with_answers));
  return FormatTable(table);
}

std::string CountRightAnswers(const std::vector<DemoRow>& rows) {
  const auto right = std::ranges::count_if(rows, [](const DemoRow& row) { return row.answer.text == row.expected; });
  if (right == static_cast<int64_t>(rows.size()))
    return fmt::format("All {} answers are right by the inventory.", right);
  return fmt::format("{} of {} answers are right by the inventory.", right, rows.size());
}

}  // namespace headstart
